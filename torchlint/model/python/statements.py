"""
Simple statements: an expression, `return`, `raise`, `assert`, `del`.

Assignments, control flow and definitions have modules of their own; `interpreter` puts the tables together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from torchlint.condition import Condition
from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.shapes import dtypes
from torchlint.model.autograd.writes import use
from torchlint.model.events import ResultDropped, TensorFacts
from torchlint.model.python.attributes import evaluate_again
from torchlint.model.python.binding import set_attribute
from torchlint.model.python.containers import remove
from torchlint.model.python.decisions import arms_of_test, evaluate_test
from torchlint.model.python.members import patch_what_it_may_be, written_to_mapping
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.subscripts import evaluate_index
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    NONE,
    External,
    Instance,
    Mapping,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    sure_tensors,
)
from torchlint.syntax import cst, dataflow, ir
from torchlint.syntax.for_effect import is_for_effect
from torchlint.syntax.spelling import dotted, functional_only_returns, identifier, method_only_returns, only_returns

_BOUNDS = frozenset({"min", "max"})
_TAKE_TENSORS = frozenset({"torch.allclose"})
"""What takes nothing but tensors and is of no other use than its result, whatever it is given."""
_OF_MODES = re.compile(r"training\b|grad|eval|inference")
_MOST_OPERANDS = 60
_MOVES = frozenset({"to", "type", "cpu", "cuda", "xpu", "type_as", "contiguous"})


def _expression_statement(run: Run, node: ir.ExpressionStatement) -> None:
    if isinstance(node.value, ir.Call):
        before = run.machine.clock
        value = run.evaluate(node.value)
        _dropped(run, node, node.value, value, before)
    else:
        value = run.evaluate(node.value)
    for hook in run.machine.watch.expression_statement:
        hook(node, value)


def _dropped(run: Run, node: ir.ExpressionStatement, call: ir.Call, value: Value, before: int) -> None:
    """A statement whose value is a tensor that nothing else refers to."""
    machine = run.machine
    function = call.function
    if not isinstance(function, ir.Attribute) or not isinstance(call.origin, cst.Call):
        return
    if any(argument.keyword in ("out", "inplace") for argument in call.arguments):
        return
    receiver = evaluate_again(run, function.value)
    if isinstance(receiver, External):
        if receiver.qualified == "torch.nn.functional":
            returns = functional_only_returns(function.attr, len(call.arguments))
        else:
            returns = receiver.qualified == "torch" and only_returns(f"torch.{function.attr}", function.attr)
        if not returns:
            return
        first = call.arguments[0].value if call.arguments else None
        tensor = evaluate_again(run, first) if isinstance(first, (ir.Name, ir.Attribute)) else None
        op = f"torch.{function.attr}"
        if not isinstance(tensor, Tensor) and op not in _TAKE_TENSORS:
            return
    else:
        options = [each for _, each in alternatives(receiver)]
        op = function.attr
        if not method_only_returns(op):
            return
        machine.open_write = machine.open_write or any(
            isinstance(each, Unknown) and not is_foreign(each) for each in options
        )
        if not options or not all(isinstance(each, Tensor) for each in options):
            return
        tensor = options[0]
    if any(_is_tuple(run, argument.value) for argument in call.arguments if argument.keyword in _BOUNDS):
        return  # torch takes a number or a tensor there: the call raises
    inside = machine.stack[-1].definition if machine.stack else None
    if machine.expected_errors or is_for_effect(machine.program, inside, node, function.attr):
        return
    if isinstance(tensor, Tensor) and function.attr in _MOVES and (value is tensor or _is_there(run, call, tensor)):
        return
    if isinstance(tensor, Tensor) and _is_moved_by_its_module(run, tensor, inside, function):
        return
    if function.attr == "type" and not call.arguments:
        return  # the name of its type: nothing is made
    if dtypes.conversion(function.attr) is not None and value is tensor:
        return  # it has that dtype: torch gives the tensor itself
    if isinstance(tensor, Tensor) and function.attr == "detach" and tensor.requires_grad.truth() is Truth.NO:
        return  # there is no graph to leave: assigned, it would change nothing either
    machine.emit(
        ResultDropped(
            node=call.origin,
            statement=node.line,
            op=op,
            receiver=machine.facts(tensor, dotted(function.value))
            if isinstance(tensor, Tensor)
            else TensorFacts(name=""),
            inplace_twin=f"{function.attr}_" if ops.has_inplace_twin(function.attr) else "",
            call=call.origin,
            conditions=_may_convert_nothing(run, function, call, value, tensor) if isinstance(tensor, Tensor) else (),
        )
    )


def _may_convert_nothing(
    run: Run, function: ir.Attribute, call: ir.Call, value: Value, tensor: Tensor
) -> tuple[Condition, ...]:
    """A conversion gives back its tensor where there is nothing to convert; dropping that result loses nothing."""
    if function.attr not in _MOVES and dtypes.conversion(function.attr) is None:
        return ()
    moves = function.attr in _MOVES and not any(_is_dtype(run, each.value) for each in call.arguments)
    results = [each for _, each in alternatives(value)]
    if not moves and all(isinstance(each, Tensor) and each.storage is not tensor.storage for each in results):
        return ()
    given = ", ".join(each.star + (dotted(each.value) or "…") for each in call.arguments)
    return (Condition("copy", f"{dotted(function.value) or '…'}.{function.attr}({given})"),)


def _is_tuple(run: Run, argument: ir.Expression) -> bool:
    """A tuple or list, written there or under a name."""
    return isinstance(argument, ir.Sequence) or isinstance(evaluate_again(run, argument), Sequence)


def _is_there(run: Run, call: ir.Call, tensor: Tensor) -> bool:
    """
    Whether a move changes nothing that anybody meets: the tensor was made with the very device or dtype that is asked
    for, or of what lies there, or it is a scalar, which goes with tensors of any device.
    """
    made = tensor.origin
    asked = {dotted(each.value) for each in call.arguments}
    if isinstance(made, ir.Call) and asked and "" not in asked:
        given = {dotted(each.value) for each in made.arguments if each.keyword in ("dtype", "device")}
        given |= _as_its_model(made)
        if asked <= given:
            return True
    if len(call.arguments) == 1 and _is_computed_from(run, tensor, _whose_device(run, call.arguments[0].value)):
        return True
    return tensor.shape == () and not any(_is_dtype(run, each.value) for each in call.arguments)


def _is_moved_by_its_module(run: Run, tensor: Tensor, inside: ir.Node | None, function: ir.Attribute) -> bool:
    """
    Whether a method of a module that takes the place of `to` or `cuda` moves its parameter or buffer as that does which
    it calls: `super().to(device)`.
    """
    if not isinstance(inside, ir.FunctionDef) or inside.name != function.attr:
        return False
    if tensor.is_parameter is not Truth.YES and not _is_buffer(run, function.value):
        return False
    calls = (each.function for each in ir.walk(inside.body) if isinstance(each, ir.Call))
    return any(
        isinstance(each, ir.Attribute)
        and each.attr == function.attr
        and isinstance(each.value, ir.Call)
        and dotted(each.value.function) == "super"
        for each in calls
    )


def _is_buffer(run: Run, owner: ir.Expression) -> bool:
    """Whether the file registers a buffer under the name of an attribute."""
    name = owner.attr if isinstance(owner, ir.Attribute) else ""
    calls = (each for each in ir.walk(run.machine.program.body) if isinstance(each, ir.Call) and each.arguments)
    return any(
        isinstance(each.function, ir.Attribute)
        and each.function.attr == "register_buffer"
        and isinstance(each.arguments[0].value, ir.Constant)
        and each.arguments[0].value.value == name
        for each in calls
    )


def _whose_device(run: Run, argument: ir.Expression) -> Value | None:
    """
    `k` in `t.to(k.device)`: a tensor, or what nobody knows, which is one as it has a device, in a variable that the
    function never sets anew.
    """
    if not isinstance(argument, ir.Attribute) or argument.attr != "device":
        return None
    owner = evaluate_again(run, argument.value)
    if isinstance(owner, Unknown) and owner.tensor is None and isinstance(argument.value, ir.Name):
        inside = run.machine.stack[-1].definition if run.machine.stack else None
        is_set = not isinstance(inside, ir.FunctionDef) or argument.value.id in dataflow.sets(inside.body)
        return None if is_set else owner
    if isinstance(owner, Unknown):
        return owner.tensor
    return owner if isinstance(owner, Tensor) else None


def _is_computed_from(run: Run, tensor: Tensor, other: Value | None) -> bool:
    """Whether a tensor was computed from another one without a move: torch computes where its operands lie."""
    pending, known = [tensor], set[int]()
    while pending and other is not None and len(known) < _MOST_OPERANDS:
        each = pending.pop()
        if each is other:
            return True
        if id(each) not in known and each.op.rpartition(".")[2] not in _MOVES:
            known.add(id(each))
            pending += each.inputs
            if isinstance(other, Unknown) and any(found is other for found in _operands(run, each.origin)):
                return True
    return False


def _operands(run: Run, origin: ir.Node) -> Iterator[Value]:
    """The values of the operands of an arithmetic expression, and of those in it, that have a name."""
    pending = [origin]
    while pending:
        each = pending.pop()
        if isinstance(each, ir.Binary):
            pending += (each.left, each.right)
        elif isinstance(each, ir.Unary):
            pending.append(each.operand)
        elif isinstance(each, (ir.Name, ir.Attribute)) and each is not origin:
            yield evaluate_again(run, each)


def _as_its_model(made: ir.Call) -> set[str]:
    """What is as in the tensor that `zeros_like(x)` or `x.new_zeros(...)` is made after: `x.dtype`, `x.device`."""
    function = made.function
    if not isinstance(function, ir.Attribute):
        return set()
    said = {each.keyword for each in made.arguments}
    model = function.value if function.attr.startswith("new_") else None
    if function.attr.endswith("_like") and made.arguments and not made.arguments[0].star:
        model = made.arguments[0].value
    text = dotted(model) if model is not None else ""
    parts = {f"{text}.{name}" for name in ("dtype", "device") if name not in said}
    return (parts if len(parts) < 2 else parts | {text}) if text else set()


def _is_dtype(run: Run, argument: ir.Expression) -> bool:
    """`torch.float64`, as an argument of `to`."""
    found = evaluate_again(run, argument) if isinstance(argument, (ir.Name, ir.Attribute)) else None
    return isinstance(found, External) and dtypes.is_dtype(found.qualified)


def _return(run: Run, node: ir.Return) -> None:
    machine = run.machine
    value = run.evaluate(node.value) if node.value is not None else NONE
    for tensor in sure_tensors(value):
        use(run.autograd, tensor, node)
    if machine.dead:
        return  # what it returns raises
    if machine.stack:
        call = machine.stack[-1]
        _finally(run)
        for hook in machine.watch.returned:
            hook(value, node.origin)
        call.returns.append((machine.path - call.path, machine.trail.changes(call.mark, call.own()), value))
    machine.dead = True


def _finally(run: Run) -> None:
    """What `return` runs before it leaves: the `finally` blocks around it, the inner ones first."""
    finals = run.finals
    while run.finals and run.finals[-1][0] == len(run.machine.stack):
        _, block = run.finals[-1]
        run.finals = run.finals[:-1]
        run.execute(block)
    run.finals = finals


def _raise(run: Run, node: ir.Raise) -> None:
    if node.value is not None:
        run.evaluate(node.value)
    run.machine.dead = True


def _assert(run: Run, node: ir.Assert) -> None:
    """
    `assert`: what does not hold ends the path. What it says of sizes and types people take for granted, so only what it
    says of modes is a decision.
    """
    truth = evaluate_test(run, node.test)
    if truth is Truth.NO:
        run.machine.dead = True
    elif truth is Truth.MAYBE and any(_OF_MODES.search(identifier(each)) for each in ir.walk(node.test)):
        arms = arms_of_test(run, node.test, lambda: None, partial(_end, run))
        if len(arms) == 1:
            arms[0][1]()
        else:
            run.machine.fork(arms)


def _end(run: Run) -> None:
    run.machine.dead = True


def _delete(run: Run, node: ir.Delete) -> None:
    machine = run.machine
    for target in node.targets:
        if isinstance(target, ir.Name):
            machine.trail.delete(machine.frame.variables, target.id)
        elif isinstance(target, ir.Attribute) and target.attr == "grad":
            set_attribute(run, run.evaluate(target.value), target, NONE)
        elif isinstance(target, ir.Subscript):
            owner = run.evaluate(target.value)
            if isinstance(owner, Unknown):
                patch_what_it_may_be(run, owner)
            elif isinstance(owner, Mapping) and owner.items is None:
                written_to_mapping(run, owner, Unknown())
            remove(run, owner, evaluate_index(run, target.index))
        elif isinstance(target, ir.Attribute):
            for _, each in alternatives(run.evaluate(target.value), machine.guard):
                if isinstance(each, (Instance, Unknown)):
                    machine.trail.set(each.attributes, target.attr, Unknown(source=target))


def _pass(run: Run, node: ir.Pass) -> None:
    pass


STATEMENTS: Statements = {
    ir.ExpressionStatement: _expression_statement,
    ir.Return: _return,
    ir.Raise: _raise,
    ir.Assert: _assert,
    ir.Delete: _delete,
    ir.Pass: _pass,
}
