"""Sees losses whose prediction and target are broadcast against each other, and singularities masked too late."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Literal

from torchlint.condition import Condition
from torchlint.model.events import Shape
from torchlint.model.events.numerics import LossBroadcast, MaskedSingularity
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.guards import Truth, conditions
from torchlint.model.state.values import Choice, Tensor, Unknown, Value
from torchlint.syntax.features import MASKED, SINGULAR, SQUARED_MEAN, Concern, here

_ELEMENTWISE_LOSSES = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def both_expanded(left: Shape, right: Shape) -> bool:
    """Whether broadcasting stretches both: (n, 1) against (n,) becomes (n, n)."""
    if left is None or right is None:
        return False
    rank = max(len(left), len(right))
    ones: tuple[int | None, ...] = (1,) * rank
    pairs = list(zip((ones + left)[-rank:], (ones + right)[-rank:], strict=True)) if rank else []
    return any(a == 1 and b != 1 for a, b in pairs) and any(b == 1 and a != 1 for a, b in pairs)


class Broadcasts(Computations):
    """Raises `LossBroadcast` and `MaskedSingularity`."""

    concerns = (
        Concern(anywhere=(_ELEMENTWISE_LOSSES | {"+MSELoss", "+L1Loss", "+SmoothL1Loss", "+HuberLoss"},)),
        here(SQUARED_MEAN),
        here("where masked_fill", MASKED),
    )

    def computed(self, made: Computation) -> None:
        if made.name in _ELEMENTWISE_LOSSES:
            self._loss(made, made.spelling.rpartition(".")[2], made.operands)
        elif made.name in ("mean", "sum"):
            self._by_hand(made)
        elif made.name == "where" and len(made.operands) == 3:
            self._masked(made, "where", made.operands[1:], 0)
        elif made.name == "masked_fill" and made.how == "method" and len(made.operands) == 3:
            self._masked(made, "masked_fill", made.operands[:1], 1)

    # -- losses

    def _loss(self, made: Computation, loss: str, operands: tuple[Value, ...]) -> None:
        if len(operands) < 2:
            return
        left, right = self.tensor(operands[0]), self.tensor(operands[1])
        nodes = made.written(0, "input"), made.written(1, "target", "other")
        if left is None or right is None or nodes[0] is None or nodes[1] is None:
            return
        if both_expanded(left.shape, right.shape):
            self.machine.emit(
                LossBroadcast(
                    node=made.node,
                    statement=made.line,
                    truth=self.now(),
                    loss=loss,
                    left=nodes[0],
                    right=nodes[1],
                    left_shape=left.shape,
                    right_shape=right.shape,
                )
            )

    def _by_hand(self, made: Computation) -> None:
        """`((prediction - y) ** 2).mean()`, where the prediction is what a layer returned."""
        if len(made.operands) > 1 or made.keywords:
            return
        power = self.maker(made.operands[0])
        if power is None or power.name not in ("**", "pow", "square", "abs"):
            return
        difference = self.maker(power.operands[0])
        if difference is None or difference.name not in ("-", "sub") or difference.keywords:
            return
        makers = [self.maker(each) for each in difference.operands[:2]]
        if any(each is not None and each.name == "linear" for each in makers):
            self._loss(difference, "-", difference.operands)

    # -- masks

    def _masked(
        self, made: Computation, how: Literal["where", "masked_fill"], branches: tuple[Value, ...], mask_at: int
    ) -> None:
        mask = self.maker(made.operands[mask_at])
        if mask is None or mask.name not in _COMPARISONS or len(mask.operands) != 2:
            return
        for number, branch in enumerate(branches):
            singular = self.maker(branch)
            place = self._singular_operand(singular)
            if singular is None or place is None:
                continue
            value = singular.operands[place]
            written, node = singular.written(place, "input", "other"), singular.node
            kept_if = how == "where" and number == 0
            if written is None or not self._drops(mask, value, singular.name, kept_if):
                continue
            truth, needs = self._requires_grad(value)
            if truth is not Truth.NO:
                self.machine.emit(
                    MaskedSingularity(
                        node=made.node,
                        statement=made.line,
                        truth=self.now() & truth,
                        conditions=needs,
                        how=how,
                        function=singular.name,
                        computed=node,
                        operand=written,
                    )
                )

    def _drops(self, mask: Computation, value: Value, function: str, kept_if: bool) -> bool:
        """Whether the mask compares the value with a number so that the function's singular point is dropped."""
        for position, other in ((0, 1), (1, 0)):
            bound = constant(mask.operands[other])
            if not self._same(value, mask.operands[position]) or not isinstance(bound, (int, float)):
                continue
            points = (-1.0, 1.0) if function in ("acos", "asin", "atanh") else (1.0,) if function == "acosh" else (0.0,)
            compare = _COMPARISONS[mask.name]
            held = [compare(point, bound) if position == 0 else compare(bound, point) for point in points]
            return any(each is not kept_if for each in held)
        return False

    def _singular_operand(self, made: Computation | None) -> int | None:
        if made is None or not made.operands:
            return None
        if made.name in SINGULAR:
            return 0
        if made.name in ("/", "div") and len(made.operands) == 2:
            return 1 if isinstance(made.operands[1], (Tensor, Unknown, Choice)) else None
        return None

    def _same(self, one: Value, other: Value) -> bool:
        return one is other or (self.tensor(one) is not None and self.tensor(one) is self.tensor(other))

    def _requires_grad(self, value: Value) -> tuple[Truth, tuple[Condition, ...]]:
        tensor = self.tensor(value)
        if tensor is None or self.machine.grad_mode is not Truth.YES:
            return Truth.NO, ()
        guard = tensor.requires_grad.guard()
        if guard is None:
            return Truth.NO, ()
        needs = conditions(guard)
        return (Truth.YES if needs or not guard else Truth.MAYBE), needs
