"""
Parameters and gradients that an assignment binds by hand: `w = nn.Parameter(...).to(device)`, `p.grad = ...`.

Emits what happened; binds nothing itself.
"""

from __future__ import annotations

import ast

from torchlint.condition import Condition
from torchlint.knowledge.shapes.dtypes import is_dtype
from torchlint.model.autograd.tensors import materialise
from torchlint.model.events import ParameterDerived
from torchlint.model.events.gradients import GradWrite
from torchlint.model.python.attributes import evaluate_again, is_module
from torchlint.model.python.run import Run
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import NONE, Constant, External, Instance, Tensor, Unknown, Value, alternatives
from torchlint.model.torch.arguments import CASTS, as_argument, has_dtype, precise_dtype
from torchlint.model.torch.defaults import device_named
from torchlint.model.torch.gradients import grad_written
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted


def cst_expression(node: ir.Node) -> cst.BaseExpression:
    """The CST expression an IR expression was lowered from."""
    assert isinstance(node.origin, cst.BaseExpression)
    return node.origin


def written_grad(run: Run, target: ir.Attribute, value: Value, node: ir.Assign) -> None:
    """Tell of a `.grad` that an assignment sets."""
    if target.attr != "grad":
        return
    how: GradWrite
    if value == NONE:
        how = "none"
    elif isinstance(value, Tensor) and value.made_by in ("zeros_like", "zeros"):
        how = "zeros"
    else:
        return
    for _, each in alternatives(run.evaluate(target.value)):
        if isinstance(each, Unknown) and each.element_of_parameters:
            each = materialise(run.autograd, each)
            each.name = each.name or dotted(target.value)
        if isinstance(each, Tensor):
            grad_written(run.torch, each, how, node, each)


def derived_parameter(run: Run, node: ir.Assign, target: ir.Attribute, value: Value) -> None:
    """Tell of a parameter that is computed from another when it is bound."""
    if node.value is None:
        return
    parameter, op = _parameter_in(run, node.value)
    if parameter is None or not op or _is_made_one_later(run, node, target):
        return
    for _, each in alternatives(run.evaluate(target.value)):
        if not isinstance(each, Instance) or is_module(each) is Truth.NO:
            continue
        options = [v for _, v in alternatives(value)]
        if any(isinstance(v, Tensor) and v.is_parameter is Truth.YES for v in options) and op not in _MOVES:
            continue
        if not all(isinstance(v, (Tensor, Unknown)) for v in options):
            continue
        same = _keeps_dtype(run, node.value, op, options)
        if same is Truth.YES or (op == "to" and _is_where_it_lies(run, node.value)):
            continue  # a conversion to the dtype that it has gives the parameter itself, as does a move to the CPU
        run.machine.emit(
            ParameterDerived(
                node=cst_expression(node.value),
                statement=node.line,
                conditions=_left_open(run, node.value, op, same),
                attribute=target.attr,
                module=each.cls.name,
                op=op,
                parameter_node=parameter,
                value_node=cst_expression(node.value),
            )
        )


def _parameter_in(run: Run, node: ir.Expression) -> tuple[cst.Call | None, str]:
    """The `nn.Parameter(...)` at the bottom of a chain of operations, and the operation applied last."""
    op = ""
    current: ir.Expression = node
    while True:
        if isinstance(current, ir.Binary):
            op = op or current.op
            left, _ = _parameter_in(run, current.left)
            current = current.left if left is not None else current.right
        elif isinstance(current, ir.Unary):
            op = op or current.op
            current = current.operand
        elif isinstance(current, ir.Call) and isinstance(current.origin, cst.Call):
            if _is_parameter_call(run, current):
                return current.origin, op
            inner, applied = _operand(run, current)
            if inner is None:
                return None, ""
            op = op or applied
            current = inner
        else:
            return None, ""


def _is_made_one_later(run: Run, node: ir.Assign, target: ir.Attribute) -> bool:
    """Whether a statement that comes after it in its function, on a path at least, makes the attribute a parameter."""
    running = run.machine.stack[-1].definition if run.machine.stack else None
    for each in _after(running.body, node) if isinstance(running, ir.FunctionDef) else ():
        if not isinstance(each, ir.Assign) or each.value is None:
            continue
        if any(_may_be_same(other, target) for other in each.targets):
            parameter, op = _parameter_in(run, each.value)
            if parameter is not None and not op:
                return True
    return False


def _may_be_same(other: ir.Expression, target: ir.Attribute) -> bool:
    """Whether an attribute that is set is the same one: of the same name, or of what a call gives."""
    if not isinstance(other, ir.Attribute) or other.attr != target.attr:
        return False
    return dotted(other) == dotted(target) or not dotted(other)


def _after(body: list[ir.Statement], node: ir.Statement) -> list[ir.Statement]:
    """What follows a statement in its block, and in the blocks around it: no other arm of an `if`."""
    later: list[ir.Statement] = []
    block: list[ir.Statement] | None = body
    while block is not None:
        inner: list[ir.Statement] | None = None
        for place, each in enumerate(block):
            inner = next((held for held in ir.blocks(each) if any(one is node for one in ir.everything(held))), None)
            if each is node or inner is not None:
                later += ir.everything(block[place + 1 :])
                break
        block = inner
    return later


def _is_parameter_call(run: Run, node: ir.Call) -> bool:
    callee = evaluate_again(run, node.function)
    return isinstance(callee, External) and callee.qualified == "torch.nn.Parameter"


def _operand(run: Run, node: ir.Call) -> tuple[ir.Expression | None, str]:
    """What a call is applied to, and the operation ("" where the result is the same object)."""
    function = node.function
    callee = evaluate_again(run, function)
    if isinstance(function, ir.Attribute) and not isinstance(evaluate_again(run, function.value), External):
        same = function.attr.endswith("_") or (function.attr == "to" and _to_cpu(node))
        return function.value, "" if same else function.attr
    if isinstance(callee, External) and callee.qualified.startswith("torch.") and node.arguments:
        return node.arguments[0].value, callee.qualified.rpartition(".")[2]
    return None, ""


def _keeps_dtype(run: Run, node: ir.Expression, op: str, options: list[Value]) -> Truth:
    """Whether the last operation converts the parameter to the dtype it has; NO if it is no conversion to a dtype."""
    if op not in CASTS or not isinstance(node, ir.Call):
        return Truth.NO
    wanted = CASTS[op]
    if not wanted:
        given = [each.value for each in node.arguments]
        named = [evaluate_again(run, each) for each in given if isinstance(each, (ir.Name, ir.Attribute))]
        dtypes = [as_argument(each) for each in named if isinstance(each, External) and is_dtype(each.qualified)]
        wanted = precise_dtype(str(dtypes[0])) if len(given) == len(dtypes) == 1 else ""
    if not wanted:
        return Truth.NO
    tensors = [each for each in options if isinstance(each, Tensor)]
    known = [each for one in tensors for each in (one, *one.inputs) if each.is_parameter is Truth.YES]
    return has_dtype(run.torch, known[0], wanted) if known else Truth.MAYBE


def _left_open(run: Run, node: ir.Expression, op: str, same: Truth) -> tuple[Condition, ...]:
    """What must hold for a conversion to give another tensor than the parameter itself."""
    if same is Truth.MAYBE and isinstance(node, ir.Call):
        return (Condition("copy", f".{op}({', '.join(dotted(each.value) or '…' for each in node.arguments)})"),)
    if op == "to":
        return _device_of(run, node)
    if op not in ("type", "type_as") or not isinstance(node, ir.Call):
        return ()
    given = [each.value for each in node.arguments]
    values = [evaluate_again(run, each) for each in given if isinstance(each, (ir.Name, ir.Attribute, ir.Constant))]
    known = [isinstance(each, Constant) or (isinstance(each, External) and is_dtype(each.qualified)) for each in values]
    if len(known) == len(given) and all(known):
        return ()
    return (Condition("copy", f".{op}({', '.join(dotted(each) or '…' for each in given)})"),)


def _device_of(run: Run, node: ir.Expression) -> tuple[Condition, ...]:
    """`.to(device)` of a new parameter gives another tensor only where the device is another one than the CPU."""
    if not isinstance(node, ir.Call) or not isinstance(node.function, ir.Attribute) or node.function.attr != "to":
        return ()
    given = _device_given(node)
    if isinstance(given, ir.Call) and dotted(given.function) == "torch.device" and given.arguments:
        given = given.arguments[0].value
    value = evaluate_again(run, given) if given is not None else None
    known = isinstance(given, ir.Constant) or (isinstance(value, External) and is_dtype(value.qualified))
    if given is None or known or isinstance(value, Constant):
        return ()
    text = dotted(given) or _written(given)
    if not text or "dtype" in text:
        return (Condition("copy", f".to({text or '…'})"),)
    return (Condition("device", text),)


def _device_given(node: ir.Call) -> ir.Expression | None:
    return next((each.value for each in node.arguments if each.keyword in ("", "device")), None)


def _is_where_it_lies(run: Run, node: ir.Expression) -> bool:
    """Whether `.to(device)` names the CPU, where a new parameter lies."""
    given = _device_given(node) if isinstance(node, ir.Call) and len(node.arguments) == 1 else None
    if not isinstance(given, (ir.Name, ir.Attribute)):
        return False
    options = [each for _, each in alternatives(evaluate_again(run, given))]
    return all(device_named(each) == "cpu" for each in options)


def _written(node: ir.Expression) -> str:
    """An expression as the program has it, on one line."""
    at = getattr(node.origin, "at", None)
    return ast.unparse(at) if isinstance(at, ast.expr) else ""


def _to_cpu(node: ir.Call) -> bool:
    values = [argument.value for argument in node.arguments]
    return len(values) == 1 and isinstance(values[0], ir.Constant) and values[0].value == "cpu"


# A new Parameter has the default dtype and lies on the CPU (unless its argument did not, which is then no move).
_MOVES = frozenset({"cuda", "to", "double", "half", "bfloat16"})
