"""
What a custom `autograd.Function` gives where it is applied, and `function_nodes` does not know its node.

Its `forward` is followed by itself: of the result it is known what it is computed from, and, where
all that `forward` returns says so, that it is one tensor with a derivative.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.knowledge.ops.find import find
from torchlint.model.autograd.tensors import materialise
from torchlint.model.autograd.writes import escape
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.values import (
    Class,
    Constant,
    External,
    Function,
    Scalar,
    Tensor,
    Unknown,
    Value,
    made_of,
    reachable_tensors,
)
from torchlint.syntax import ir

APPLIED = "torch.autograd.Function"
"""`Unknown.made_by` of what is one tensor, and a node of the graph if an input is in it."""
FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
"""What a custom Function derives from."""
_INTEGER = frozenset({"bool", "byte", "char", "int", "long", "short"})


def is_function(cls: Class) -> bool:
    """Whether a class of the file is a custom Function."""
    return any(isinstance(base, External) and base.qualified in FUNCTIONS for base in cls.outside())


def applied(run: Run, cls: Class, site: CallSite) -> Unknown:
    """`MyFunction.apply(...)`: depends on its inputs, saves nobody knows what."""
    escape(run.autograd, [tensor for value in site.values() for tensor in reachable_tensors(value)], site.node)
    result = made_of(site.values(), source=site.node)
    if is_function(cls) and _is_one_tensor(cls):
        result.made_by = APPLIED
    return result


def given_by_function(run: Run, value: Value, other: Value) -> Value:
    """An operand beside another: the tensor that a custom Function gave, where that is computed with."""
    if isinstance(value, Unknown) and value.made_by == APPLIED and isinstance(other, (Constant, Scalar, Tensor)):
        return materialise(run.autograd, value)
    return value


def _is_one_tensor(cls: Class) -> bool:
    """Whether all that `forward` returns is written as one value that has a derivative, and nothing says otherwise."""
    forward = next((each.attributes["forward"] for each in cls.ancestry() if "forward" in each.attributes), None)
    if not isinstance(forward, Function) or not isinstance(forward.definition, ir.FunctionDef):
        return False
    body = forward.definition.body
    for each in cls.ancestry():
        for node in ir.walk(each.definition.body):
            if isinstance(node, ir.Attribute) and node.attr == "mark_non_differentiable":
                return False
    returned = [node.value for node in ir.walk(body) if isinstance(node, ir.Return)]
    return bool(returned) and all(_has_derivative(each, body) for value in returned for each in _bound(value, body))


def _bound(value: ir.Expression | None, body: list[ir.Statement]) -> Iterator[ir.Expression | None]:
    """A value, and where it is a name all that the function assigns to that."""
    yield value
    if isinstance(value, ir.Name):
        for node in ir.walk(body):
            if isinstance(node, ir.Assign) and any(_names(target, value.id) for target in node.targets):
                yield node.value


def _names(target: ir.Expression, name: str) -> bool:
    return isinstance(target, ir.Name) and target.id == name


def _has_derivative(value: ir.Expression | None, body: list[ir.Statement]) -> bool:
    if isinstance(value, ir.Call):
        name = value.function.attr if isinstance(value.function, ir.Attribute) else ""
        known = find(f"torch.Tensor.{name}") if name else ()
        return name not in _INTEGER and (not known or any(op.differentiable or op.may_differentiate for op in known))
    return isinstance(value, (ir.Name, ir.Binary, ir.Unary, ir.Attribute, ir.Subscript))
