"""
Operations that torch composes by the sizes and layouts of their operands: `einsum`, `tensordot`, `linalg.norm`.

Repeats what `aten/src/ATen/native/Linear.cpp` (`einsum`, `sumproduct_pair`, `tensordot`) and `LinearAlgebra.cpp`
(`linalg_norm`) do with the operations they call, so that what is saved, and whether the result is a view, comes from
the operation table. What it cannot follow it leaves to the table's word on the whole.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass
from math import prod
from typing import Final

from torchlint.model.state.hooks import Watch
from torchlint.model.state.values import Constant, Sequence, Tensor, Value
from torchlint.model.torch.arguments import as_argument
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir


class _NotFollowedError(Exception):
    """A size, a label or an inner operation that is not known."""


@dataclass(frozen=True, slots=True)
class _Equation:
    """An equation without diagonals, its ellipses spelled out: the labels of the operands and of the result."""

    operands: tuple[str, ...]
    result: str

    @property
    def order(self) -> str:
        """The labels of the result, then the others in the order of the alphabet."""
        return self.result + "".join(sorted(set("".join(self.operands)) - set(self.result)))


_DOTS = "..."
_OF_DOTS = "αβγδεζηθ"
"""Labels that nobody writes, for the dimensions that an ellipsis stands for."""


def _spelled_out(text: str, ranks: Many[int]) -> str:
    """
    The equation with a label for each dimension that an ellipsis stands for, the last ones first; as it is written
    where not all ranks are known, for an operand that nobody knows is in no `ranks`.
    """
    left, arrow, right = text.replace(" ", "").partition("->")
    operands = left.split(",")
    if len(operands) != len(ranks):
        return text
    widths = [rank - len(each.replace(_DOTS, "")) for each, rank in zip(operands, ranks, strict=True) if _DOTS in each]
    most = max(widths, default=0)
    if _DOTS not in text or not arrow or _DOTS not in right or min(widths, default=-1) < 0 or most > len(_OF_DOTS):
        return text
    labels = _OF_DOTS[:most]
    shown = [each.replace(_DOTS, labels[most - widths.pop(0) :]) if _DOTS in each else each for each in operands]
    return ",".join(shown) + arrow + right.replace(_DOTS, labels)


def _equation(text: str) -> _Equation | None:
    left, arrow, right = text.replace(" ", "").partition("->")
    operands = tuple(left.split(","))
    labels = "".join(operands)
    result = right if arrow else "".join(sorted(each for each in set(labels) if labels.count(each) == 1))
    plain = all(each.isalpha() and len(set(each)) == len(each) for each in operands)
    if not plain or not set(result) <= set(labels) or len(set(result)) != len(result):
        return None
    return _Equation(operands, result)


@dataclass(frozen=True, slots=True)
class _Contraction:
    """One call that is followed."""

    torch: Torch
    origin: ir.Node
    display: str

    def einsum(self, positional: Many[Value], keywords: dict[str, Value]) -> tuple[tuple[Tensor, ...], Tensor]:
        written, *given = positional or (None,)
        if len(given) == 1 and isinstance(given[0], Sequence):
            given = list(given[0].items or ())
        operands = tuple(each for each in given if isinstance(each, Tensor))
        equation = None
        if isinstance(written, Constant) and isinstance(written.value, str):
            equation = _equation(_spelled_out(written.value, [len(self._sizes(each)) for each in operands]))
        if equation is None or keywords or not len(equation.operands) == len(operands) == len(given) <= 2:
            raise _NotFollowedError
        for labels, tensor in zip(equation.operands, operands, strict=True):
            if len(self._sizes(tensor)) != len(labels):
                raise _NotFollowedError
        order, kept = equation.order, len(equation.result)
        laid = [self._laid(tensor, labels, order) for labels, tensor in zip(equation.operands, operands, strict=True)]
        if len(laid) == 1:
            summed = list(range(kept, len(order)))
            return operands, self._sum(laid[0], summed, keep=False) if summed else laid[0]
        result = self._pair(laid[0], laid[1], kept)
        if len(order) > kept:
            result = self._run("view", [result, _ints(self._sizes(result)[:kept])])
        return operands, result

    def _laid(self, tensor: Tensor, labels: str, order: str) -> Tensor:
        """An operand with its dimensions in the common order, and with those it lacks of size 1."""
        own = [labels.index(label) for label in order if label in labels]
        tensor = self._run("permute", [tensor, _ints(own)])
        for place, label in enumerate(order):
            if label not in labels:
                tensor = self._run("unsqueeze", [tensor, Constant(place)])
        return tensor

    def _pair(self, left: Tensor, right: Tensor, kept: int) -> Tensor:
        both: list[int] = []
        for axis in range(kept, len(self._sizes(left))):
            one, other = self._sizes(left)[axis], self._sizes(right)[axis]
            if one != 1 and other != 1:
                both.append(axis)
            elif one != 1:
                left = self._sum(left, [axis], keep=True)
            elif other != 1:
                right = self._sum(right, [axis], keep=True)
        if not both:
            return self._run("mul", [left, right])
        return self._product(left, right, both)

    def _product(self, left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
        """`sumproduct_pair`, which keeps the summed dimensions."""
        one, other = self._sizes(left), self._sizes(right)
        free = [axis for axis in range(len(one)) if axis not in summed]
        shared = [axis for axis in free if one[axis] != 1 and other[axis] != 1]
        lefts = [axis for axis in free if one[axis] != 1 and other[axis] == 1]
        rights = [axis for axis in free if one[axis] == 1]
        batch, rows, columns = (
            prod(sizes[axis] for axis in axes) for sizes, axes in ((one, shared), (one, lefts), (other, rights))
        )
        inner = prod(one[axis] for axis in summed)
        left = self._run("permute", [left, _ints([*shared, *lefts, *summed, *rights])])
        left = self._run("reshape", [left, _ints([batch, rows, inner])])
        right = self._run("permute", [right, _ints([*shared, *summed, *rights, *lefts])])
        right = self._run("reshape", [right, _ints([batch, inner, columns])])
        result = self._run("bmm", [left, right])
        placed = [*shared, *lefts, *summed, *rights]
        sizes = [1 if axis in summed else other[axis] if axis in rights else one[axis] for axis in placed]
        result = self._run("view", [result, _ints(sizes)])
        return self._run("permute", [result, _ints([placed.index(axis) for axis in range(len(one))])])

    def tensordot(self, positional: Many[Value], keywords: dict[str, Value]) -> tuple[tuple[Tensor, ...], Tensor]:
        given = dict(zip(("a", "b", "dims"), positional, strict=False)) | keywords
        left, right = given.pop("a", None), given.pop("b", None)
        dims = as_argument(given.pop("dims", Constant(2)))
        if given or not isinstance(left, Tensor) or not isinstance(right, Tensor):
            raise _NotFollowedError
        operands = (left, right)
        ranks = len(self._sizes(left)), len(self._sizes(right))
        lefts, rights = _contracted(dims, *ranks)
        inner = 1
        for one, other in zip(lefts, rights, strict=True):
            if self._sizes(right)[other] == 1:
                left = self._sum(left, [one], keep=True)
            elif self._sizes(left)[one] == 1:
                right = self._sum(right, [other], keep=True)
            else:
                inner *= self._sizes(left)[one]
        rows = [axis for axis in range(ranks[0]) if axis not in lefts]
        columns = [axis for axis in range(ranks[1]) if axis not in rights]
        high = [self._sizes(left)[axis] for axis in rows]
        wide = [self._sizes(right)[axis] for axis in columns]
        left = self._run("permute", [left, _ints([*rows, *lefts])])
        left = self._run("reshape", [left, _ints([prod(high), inner])])
        right = self._run("permute", [right, _ints([*rights, *columns])])
        right = self._run("reshape", [right, _ints([inner, prod(wide)])])
        result = self._run("mm", [left, right])
        return operands, self._run("reshape", [result, _ints([*high, *wide])])

    def norm(self, positional: Many[Value], keywords: dict[str, Value]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Without order and dimension: the norm of all elements as a vector."""
        if len(positional) != 1 or keywords or not isinstance(positional[0], Tensor):
            raise _NotFollowedError
        tensor = positional[0]
        flat = self._run("flatten", [tensor])
        result = apply(self.torch, "torch.linalg.vector_norm", [flat], {}, self.origin, self.display)
        if not isinstance(result, Tensor):
            raise _NotFollowedError
        return (tensor,), result

    def _sum(self, tensor: Tensor, axes: list[int], *, keep: bool) -> Tensor:
        return self._run("sum", [tensor, _ints(axes), Constant(keep)])

    def _run(self, name: str, arguments: list[Value]) -> Tensor:
        result = apply(self.torch, f"torch.Tensor.{name}", arguments, {}, self.origin, self.display)
        if not isinstance(result, Tensor):
            raise _NotFollowedError
        return result

    def _sizes(self, tensor: Tensor) -> tuple[int, ...]:
        if tensor.shape is None or None in tensor.shape or 0 in tensor.shape:
            raise _NotFollowedError
        return tuple(size for size in tensor.shape if size is not None)


def _contracted(dims: object, left: int, right: int) -> tuple[list[int], list[int]]:
    if isinstance(dims, int) and not isinstance(dims, bool) and 0 <= dims <= min(left, right):
        return list(range(left - dims, left)), list(range(dims))
    if isinstance(dims, (tuple, list)) and len(dims) == 2:
        pairs = [each if isinstance(each, (tuple, list)) else (each,) for each in dims]
        if len(pairs[0]) == len(pairs[1]) and all(isinstance(axis, int) for each in pairs for axis in each):
            return [_axis(axis, left) for axis in pairs[0]], [_axis(axis, right) for axis in pairs[1]]
    raise _NotFollowedError


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise _NotFollowedError
    return axis % rank


def _ints(values: Many[int]) -> Value:
    return Sequence("tuple", tuple(Constant(value) for value in values))


FOLLOWED: Final = {
    "torch.einsum": _Contraction.einsum,
    "torch.tensordot": _Contraction.tensordot,
    "torch.linalg.norm": _Contraction.norm,
}


def contraction(
    torch: Torch, spelling: str, positional: Many[Value], keywords: dict[str, Value], origin: ir.Node, display: str
) -> Value | None:
    """A call of one of `FOLLOWED`; None if it cannot be followed."""
    machine = torch.machine
    watch, machine.watch = machine.watch, Watch(())
    mark = machine.trail.mark()
    call = _Contraction(torch, origin, display)
    try:
        operands, result = FOLLOWED[spelling](call, positional, keywords)
    except _NotFollowedError:
        machine.trail.undo(mark)
        return None
    finally:
        machine.watch = watch
    result.op = spelling
    result.inputs = operands
    bound: dict[str, Value] = {"operands": Sequence("tuple", operands)}
    for hook in machine.watch.operation:
        hook(spelling, bound, result, origin, display)
    return result
