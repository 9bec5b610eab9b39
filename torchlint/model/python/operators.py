"""
Operators: arithmetic, comparisons, `not`, concatenation.

On tensors they are torch's operations; numbers and texts that are known are computed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from torchlint.knowledge.ops import find as ops
from torchlint.model.python.containers import MOST_ITEMS, any_of, merged
from torchlint.model.python.custom_functions import given_by_function
from torchlint.model.python.introspection import MOST_TEXT, contains
from torchlint.model.python.releases import answered
from torchlint.model.python.run import Expressions, Run
from torchlint.model.python.special_methods import given_by_operator, given_to_special
from torchlint.model.python.variables import resolved
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import some_of
from torchlint.model.state.values import (
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    is_value_of_elsewhere,
    made_of,
    reachable_tensors,
)
from torchlint.model.torch.arguments import kind_of
from torchlint.model.torch.operations import apply
from torchlint.syntax import ir

_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_WIDE = re.compile(r"%[^%a-zA-Z]*\d{4}")
_REFLECTED: Final = frozenset({"**", "/", "-", "%"})
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _binary(run: Run, node: ir.Binary) -> Value:
    chain: list[ir.Binary] = []
    current: ir.Expression = node
    while isinstance(current, ir.Binary):
        chain.append(current)
        current = current.left
    value = run.evaluate(current)
    for each in reversed(chain):
        left, right = value, run.evaluate(each.right)
        value = operate(run, each.op, left, right, each)
        for hook in run.machine.watch.binary:
            hook(each.op, left, right, value, each)
    return value


_DERIVED: Final = frozenset({"+", "-", "*", "/", "**", "@", "%"})
"""The operators that have a derivative."""


def operate(run: Run, op: str, left: Value, right: Value, origin: ir.Node) -> Value:
    """`left op right`."""
    given_by_operator(run, op, left, right, origin)
    left, right = given_by_function(run, left, right), given_by_function(run, right, left)
    if op == "*" and (_repeats(run, left, right) or _repeats(run, right, left)):
        sequence = left if isinstance(left, Sequence) else right
        assert isinstance(sequence, Sequence)
        return _repeat(sequence, None)
    reflected = not holds_tensor(run, left)
    if not reflected or holds_tensor(run, right):
        if reflected and op == "//" and kind_of(left) == "unknown":
            result = None  # a tensor that requires grad would be differentiated, by `__rfloordiv__` nothing is
        elif run.replaces_operators():
            result = None
        elif reflected and op in _REFLECTED:
            result = _reflected(run, op, left, right, origin)
        else:
            operands = [right, left] if reflected else [left, right]
            result = apply(run.torch, ops.operator_spelling(op, reflected), operands, {}, origin, op)
        if result is not None:
            return result
        return made_of([left, right], source=origin)
    if isinstance(left, Constant) and isinstance(right, Constant) and op in _FOLD:
        return fold(op, left, right)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and op == "+":
        return _concatenate(left, right)
    if op == "|" and isinstance(left, Mapping) and isinstance(right, Mapping):
        return merged(left, right)
    if op == "|" and (isinstance(left, Mapping) or isinstance(right, Mapping)):
        return some_of([left, right], origin)
    if op == "*" and isinstance(left, Sequence) and isinstance(right, Constant):
        return _repeat(left, right.value)
    if op == "*" and isinstance(left, Constant) and isinstance(right, Sequence):
        return _repeat(right, left.value)
    kinds = {kind_of(left), kind_of(right)}
    if kinds <= {"int", "bool"}:
        return Scalar("bool" if op in _COMPARISONS else "float" if op == "/" else "number" if op == "**" else "int")
    if kinds <= {"int", "bool", "float", "number"}:
        return Scalar("bool" if op in _COMPARISONS else "number")
    if kinds == {"str"}:
        return Scalar("str")
    if op == "*" and any(isinstance(each, Sequence) for each in (left, right)):  # its parts do not depend on all of it
        return some_of([left, right], origin)
    apart = all(is_foreign(each) or isinstance(each, (Constant, Scalar)) for each in (left, right))
    result = computed(run, op, [left, right], origin)
    result.foreign = apart
    return result


def computed(run: Run, op: str, values: list[Value], origin: ir.Node) -> Unknown:
    """
    What an operator makes of what nobody knows. Of tensors it is computed as surely as they are, where grad mode is on
    and the operation has a derivative.
    """
    if op in _DERIVED and run.machine.grad_mode is Truth.YES:
        return made_of(values, source=origin)
    return Unknown(possible=[tensor for value in values for tensor in reachable_tensors(value)], source=origin)


def _repeats(run: Run, sequence: Value, times: Value) -> bool:
    """`[0] * n` where `n` is a tensor: torch refuses a list, so Python repeats it."""
    return isinstance(sequence, Sequence) and sequence.kind in ("list", "tuple") and holds_tensor(run, times)


def _reflected(run: Run, op: str, number: Value, tensor: Value, origin: ir.Node) -> Value | None:
    """`2 ** x` and the like, as torch/_tensor.py spells them."""
    torch = run.torch
    if op == "/":
        inverse = apply(torch, "torch.Tensor.reciprocal", [tensor], {}, origin, op)
        return apply(torch, "torch.Tensor.mul", [inverse, number], {}, origin, op) if inverse is not None else None
    if op == "-":
        return apply(torch, "torch.rsub", [tensor, number], {}, origin, op)
    return apply(torch, "torch.pow" if op == "**" else "torch.remainder", [number, tensor], {}, origin, op)


def holds_tensor(run: Run, value: Value) -> bool:
    """
    Whether a value is certainly a tensor (on all its alternatives that are not plain numbers, and on one
    at least).
    """
    if type(value) is not Choice:
        return type(value) is Tensor or (isinstance(value, Unknown) and value.tensor is not None)
    found = False
    for _, each in alternatives(value, run.machine.guard):
        if isinstance(each, Tensor) or (isinstance(each, Unknown) and each.tensor is not None):
            found = True
        elif not isinstance(each, (Constant, Scalar)):
            return False
    return found


def _concatenate(left: Sequence, right: Sequence) -> Value:
    if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= MOST_ITEMS:
        return Sequence(left.kind, left.items + right.items)
    inner = [each for each in (*(left.items or ()), *(right.items or ()), left.element, right.element) if each]
    unseen = any(each.items is None and each.element is None for each in (left, right))
    if inner and all(isinstance(each, (Module, Instance)) for each in inner) and not unseen:
        return Sequence(left.kind, None, inner[0])
    return Sequence(left.kind, None, any_of([*inner, Unknown()] if unseen or not inner else inner))


def _repeat(left: Sequence, times: object) -> Value:
    if left.items is not None and isinstance(times, int):
        count = min(max(times, 0), MOST_ITEMS + 1)
        if len(left.items) * count <= MOST_ITEMS:
            return Sequence(left.kind, left.items * count)
    return Sequence(left.kind, None, any_of(list(left.items)) if left.items else left.element)


def _compare(run: Run, node: ir.Compare) -> Value:
    left = run.evaluate(node.left)
    result: Value = Scalar("bool")
    known = answered(run, node)
    if known is not None:
        return Constant(known)
    for op, each in zip(node.ops, node.rights, strict=True):
        right = run.evaluate(each)
        result = _compared(run, op, left, right, node)
        left = right
    return result if len(node.ops) == 1 else Scalar("bool")


def _compared(run: Run, op: str, left: Value, right: Value, node: ir.Node) -> Value:
    if op in ("is", "is not"):
        return _identity(run, op, left, right)
    if op in ("in", "not in"):
        right = resolved(run, right)
        given_to_special(run, right, [left], ("__contains__", "__iter__"), node)
        truth = _contained(run, left, right)
        return Scalar("bool") if truth is Truth.MAYBE else Constant((truth is Truth.YES) == (op == "in"))
    for hook in run.machine.watch.compared if op in ("==", "!=") else ():
        hook(op, left, right, node)
    if op in ("==", "!=") and (right == NONE or left == NONE):
        return _identity(run, "is" if op == "==" else "is not", left, right)
    if op in ("==", "!=") and isinstance(right, Constant) and type(right.value) is int and right.value in (0, 1):
        for loop in run.loops:
            # a larger number may be that of an iteration that is not followed
            if loop is not None and loop.counter is left:
                loop.distinguished = loop.distinguished or loop.count == 1
                return Constant((loop.count == right.value) == (op == "=="))
    return operate(run, op, left, right, node)


def _contained(run: Run, left: Value, right: Value) -> Truth:
    """`left in right`; what is imported is only looked up if its name does not tell."""
    truth = contains(left, right)
    known = isinstance(left, (Class, External)) and isinstance(right, Sequence) and right.items is not None
    if truth is Truth.YES or truth is Truth.NO or not known:
        return truth
    assert isinstance(right, Sequence)
    return contains(resolved(run, left), Sequence(right.kind, tuple(map(partial(resolved, run), right.items or ()))))


def _identity(run: Run, op: str, left: Value, right: Value) -> Value:
    if isinstance(right, Choice) or isinstance(left, Choice):
        verdicts = {
            _identity(run, op, one, two)
            for _, one in alternatives(left, run.machine.guard)
            for _, two in alternatives(right, run.machine.guard)
        }
        return verdicts.pop() if len(verdicts) == 1 else Scalar("bool")
    if isinstance(left, (Unknown, Scalar)) or isinstance(right, (Unknown, Scalar)):
        definite = (isinstance(left, Unknown) and left.tensor is not None and right == NONE) or (
            isinstance(left, Scalar) and left.kind != "other" and right == NONE
        )
        return Constant(op == "is not") if definite else Scalar("bool")
    same = left is right or (isinstance(left, (Constant, External)) and left == right)
    if not same and any(isinstance(each, External) and _may_be_any(each) for each in (left, right)):
        return Scalar("bool")
    return Constant(same == (op == "is"))


def _may_be_any(value: External) -> bool:
    """Whether something imported may be None, or what has another name here."""
    return is_value_of_elsewhere(value) or value.qualified.startswith("torch.version.")


def fold(op: str, left: Constant, right: Constant) -> Value:
    """Fold two constants; a result that would be huge, or an error, is unknown."""
    if isinstance(left.value, (str, bytes)) and (op == "*" or (op == "%" and _WIDE.search(str(left.value)))):
        return Scalar("str")
    try:
        value = _FOLD[op](left.value, right.value)
    except (TypeError, ValueError, ArithmeticError):
        return Unknown()
    if isinstance(value, int) and value.bit_length() > 256:
        return Scalar("int")
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return Scalar("str")
    return Constant(value) if isinstance(value, (int, float, str, bool)) else Unknown()


EXPRESSIONS: Expressions = {
    ir.Binary: _binary,
    ir.Compare: _compare,
}
