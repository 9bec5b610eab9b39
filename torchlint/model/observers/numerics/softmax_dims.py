"""
Sees a softmax over the dimension that a product of batches, or a loss, takes for the batch.

Follows the first dimension from there back to the softmax, through what moves no numbers; what may have moved it
leaves it open. Does not judge.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.events.numerics import SoftmaxOverBatch
from torchlint.model.events.trace import Step
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.values import Value
from torchlint.syntax.features import OPEN_SOFTMAX, SWAPS_FIRST, SWAPS_LAST, Concern

_SOFTMAXES = frozenset({"softmax", "log_softmax"})
_BATCHED = frozenset({"bmm", "matmul", "@"})
_KEEPS = frozenset({"clone", "contiguous", "float", "double", "half", "dropout", "Dropout", "masked_fill", "exp"})
"""What gives as many dimensions in the same order."""
_DEPTH: Final = 10
_NAMED: Final = frozenset({"softmax", "log_softmax", "+Softmax", "+LogSoftmax"})
_OVER_LOGARITHMS = frozenset({"nll_loss", "+NLLLoss"})
_BATCHES = _BATCHED | _OVER_LOGARITHMS


def _moved(*groups: frozenset[str]) -> Concern:
    """
    Any softmax may go over what was the first dimension later, if something moves it. What has both inside of an object
    that it holds is not where they meet.
    """
    return Concern(called=(_NAMED | _BATCHES,), near=(_NAMED, _BATCHES), anywhere=groups)


class SoftmaxDims(Computations):
    """Raises `SoftmaxOverBatch`."""

    concerns = (
        Concern(near=(frozenset({OPEN_SOFTMAX, f"+{OPEN_SOFTMAX}"}), _BATCHES)),
        _moved(frozenset({SWAPS_FIRST, "squeeze"})),
        # the last two dimensions are the first two where there are no others
        _moved(frozenset({SWAPS_LAST}), frozenset({"unsqueeze"}) | _OVER_LOGARITHMS),
    )

    def computed(self, made: Computation) -> None:
        if made.name in _BATCHED and len(made.operands) > 1:
            operands = made.operands[:2]
            if made.name != "bmm" and any(self._rank(each) != 3 for each in operands):
                return
            for operand in operands:
                self._follow(made, operand, 3)
        elif made.name == "nll_loss" and made.operands:
            rank = self._rank(made.operands[0])
            if rank is not None and rank > 1:
                self._follow(made, made.operands[0], rank)

    def _rank(self, value: Value) -> int | None:
        tensor = self.tensor(value)
        return len(tensor.shape) if tensor is not None and tensor.shape is not None else None

    def _follow(self, consumer: Computation, value: Value, rank: int) -> None:
        """Where the first of `rank` dimensions comes from, if it is one that a softmax goes over."""
        place = 0
        for _ in range(_DEPTH):
            made = self.maker(value)
            if made is None or not made.operands:
                return
            if made.name in _SOFTMAXES:
                self._tell(consumer, made, place, rank)
                return
            moved = _before(made, place, rank)
            if moved is None:
                return
            (place, rank), value = moved, made.operands[0]

    def _tell(self, consumer: Computation, made: Computation, place: int, rank: int) -> None:
        dim = made.module.config.get("dim") if made.module is not None else constant(made.get(1, "dim"))
        if type(dim) is not int or rank < 2 or not -rank <= dim < rank or dim % rank != place:
            return
        if self.machine.foreign_call is not None:
            return
        name = "matmul" if consumer.name == "@" else consumer.name
        self.machine.emit(
            SoftmaxOverBatch(
                node=made.node,
                statement=made.line,
                trace=(Step(consumer.node, f"`{name}` takes that dimension for the batch"),),
                consumer=name,
                dimension=made.written(1, "dim") if made.module is None else None,
            )
        )


def _before(made: Computation, place: int, rank: int) -> tuple[int, int] | None:
    """The place of a dimension, and their number, in what an operation was given; None where that isn't known."""
    if made.name in _KEEPS:
        return place, rank
    if made.name in ("unsqueeze", "squeeze"):
        dim = constant(made.get(1, "dim"))
        size = rank if made.name == "unsqueeze" else rank + 1
        if type(dim) is not int or not -size <= dim < size:
            return None
        dim %= size
        if made.name == "unsqueeze":
            return None if dim == place else (place - (dim < place), rank - 1)
        return place + (dim <= place), rank + 1
    if made.name == "transpose":
        pair = constant(made.get(1, "dim0")), constant(made.get(2, "dim1"))
        if type(pair[0]) is not int or type(pair[1]) is not int:
            return None
        first, second = pair[0] % rank, pair[1] % rank
        return {first: second, second: first}.get(place, place), rank
    return None
