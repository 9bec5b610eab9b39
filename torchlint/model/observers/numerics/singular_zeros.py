"""
Sees roots of what is zero somewhere for certain, and the backward that comes through them.

The derivative of a root is infinite at zero, and whatever is done with the result, a gradient of zero included, gives
NaN or infinity there. Only what is zero by how it was computed is followed: zeros that nothing wrote to since, and the
differences of all pairs of rows (`x[:, None] - x[None]`), where each row meets itself. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from torchlint.model.events import BackwardCallee
from torchlint.model.events.numerics import DifferentiatedAtZero
from torchlint.model.events.trace import Step
from torchlint.model.observers.numerics.broadcasts import COMPARISONS
from torchlint.model.observers.pending import PendingEvents, derived
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, GraphNode, Tensor, Value
from torchlint.syntax import ir
from torchlint.syntax.features import Concern

_FACTORIES = frozenset({"zeros", "zeros_like", "new_zeros"})
_KEEPS = frozenset({"abs", "square", "neg", "relu", "clone", "contiguous", "double", "float"})
"""What makes zero of zero, element by element."""
_RESHAPES = frozenset({"view", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "permute", "transpose", "t"})
_DEPTH: Final = 12


@dataclass(frozen=True, slots=True)
class _Zero:
    """
    Where zeros are: everywhere, or where the indices along `dims` (of `rank` of them) are all the same.
    """

    how: Literal["zeros", "itself"]
    rank: int = 0
    dims: frozenset[int] = frozenset()

    def without(self, dim: int, *, kept: bool) -> _Zero | None:
        """After a sum along one dimension; None where it adds other elements to the zeros."""
        if not -self.rank <= dim < self.rank or dim % self.rank in self.dims:
            return None
        if kept:
            return self
        moved = frozenset(each - (each > dim % self.rank) for each in self.dims)
        return _Zero(self.how, self.rank - 1, moved)


class SingularZeros(Computations):
    """Raises `DifferentiatedAtZero`."""

    concerns = (
        Concern(
            anywhere=(
                frozenset({"sqrt", "**", "pow"}),
                frozenset({*_FACTORIES, "-", "sub"}),
                frozenset({"backward", "grad"}),
            )
        ),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._roots: list[tuple[Computation, Tensor, _Zero]] = []

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._roots.clear()

    def computed(self, made: Computation) -> None:
        result = made.result
        if made.name in ("where", "masked_fill") and self._roots:
            self._leave_to_masks(made)
        if not isinstance(result, Tensor) or not made.operands or not _is_root(made) or not derived(result):
            return
        zero = self._zero(made.operands[0], _DEPTH)
        if zero is not None and self.machine.foreign_call is None:
            self._roots.append((made, result, zero))

    def _leave_to_masks(self, made: Computation) -> None:
        """What a comparison masks afterwards is `MaskedSingularity`."""
        mask = self.maker(made.operands[0 if made.name == "where" else 1])
        if mask is not None and mask.name in COMPARISONS:
            self._roots = [each for each in self._roots if all(each[1] is not one for one in made.operands)]

    def backward(
        self,
        callee: BackwardCallee,
        root: Tensor,
        nodes: list[GraphNode],
        leaves: list[Tensor],
        inputs: list[Tensor] | None,
        create_graph: bool | None,
        origin: ir.Node,
    ) -> None:
        if not self._roots:
            return
        self.pending.ran_backward()
        visited = {id(node) for node in nodes}
        if any(leaf.hooked for leaf in leaves):
            return  # a hook may mend it
        for made, result, zero in self._roots:
            ends = [node for _, node in result.grad_fn]
            if len(ends) != 1 or id(ends[0]) not in visited or result.hooked or not made.path <= self.machine.path:
                continue
            event = DifferentiatedAtZero(
                node=made.node,
                statement=made.line,
                trace=(Step(origin.origin, "the backward comes through it"),),
                function=made.name,
                how=zero.how,
            )
            self.pending.add(event)

    def concluded(self) -> None:
        self.pending.flush()
        self._roots.clear()

    # -- what is zero

    def _zero(self, value: Value, depth: int) -> _Zero | None:
        made = self.maker(value)
        tensor = self.tensor(value)
        if made is None or tensor is None or depth == 0 or tensor.storage.uses or made.result is not value:
            return None
        if made.name in _FACTORIES:
            return _Zero("zeros")
        if made.name in ("-", "sub") and len(made.operands) == 2 and not made.keywords:
            return self._difference(made)
        found = self._zero(made.operands[0], depth - 1) if made.operands else None
        if found is None or made.name in _KEEPS:
            return found
        if made.name in ("**", "pow", "/", "div", "*", "mul") and len(made.operands) == 2:
            number = constant(made.operands[1])
            itself = made.name in ("*", "mul") and made.operands[0] is made.operands[1]
            return found if itself or (type(number) in (int, float) and number > 0) else None  # type: ignore[operator]
        if made.name in ("clamp", "clamp_min"):
            return found if made.get(1, "min") is not None and constant(made.get(1, "min")) in (0, 0.0) else None
        if made.name in ("sum", "mean"):
            return self._summed(made, found)
        return found if made.name in _RESHAPES and not found.dims else None

    def _summed(self, made: Computation, zero: _Zero) -> _Zero | None:
        if not zero.dims:
            return zero
        dim, kept = constant(made.get(1, "dim", "axis")), constant(made.get(2, "keepdim"))
        if type(dim) is not int or kept not in (..., True, False):
            return None
        return zero.without(dim, kept=kept is True)

    def _difference(self, made: Computation) -> _Zero | None:
        """`x[:, None] - x[None]`: where the index of the one is that of the other."""
        left, right = (self._stretched(each) for each in made.operands)
        if left is None or right is None or left[0] is not right[0] or left[1] == right[1]:
            return None
        first, last = sorted((left[1], right[1]))
        shape = left[0].shape
        return _Zero("itself", len(shape) + 1, frozenset(range(first, last + 1))) if shape is not None else None

    def _stretched(self, value: Value) -> tuple[Tensor, int] | None:
        """The tensor that was given one more dimension, and which."""
        made = self.maker(value)
        base = self.tensor(made.operands[0]) if made is not None and made.operands else None
        if made is None or base is None or base.shape is None or made.result is not value:
            return None
        rank = len(base.shape)
        if made.name == "unsqueeze":
            dim = constant(made.get(1, "dim"))
            return (base, dim % (rank + 1)) if type(dim) is int and -rank - 1 <= dim <= rank else None
        if made.name != "[]" or not isinstance(made.origin, ir.Subscript):
            return None
        index = made.origin.index
        parts = index.elements if isinstance(index, ir.Sequence) and index.kind == "tuple" else [index]
        kinds = [_kind(each) for each in parts]
        if kinds.count("new") != 1 or "other" in kinds or kinds.count("dots") > 1:
            return None
        place = kinds.index("new")
        behind = "dots" in kinds[:place]
        return base, rank - (len(kinds) - 1 - place) if behind else place


def _kind(part: ir.Expression) -> str:
    if isinstance(part, ir.Slice):
        return "whole" if part.lower is None and part.upper is None and part.step is None else "other"
    if isinstance(part, ir.Constant):
        return "new" if part.value is None else "dots" if part.value is ... else "other"
    return "other"


def _is_root(made: Computation) -> bool:
    if made.name == "sqrt":
        return True
    power = constant(made.operands[1]) if made.name in ("**", "pow") and len(made.operands) == 2 else None
    return type(power) is float and 0 < power < 1
