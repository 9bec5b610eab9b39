"""Sees losses whose prediction and target are broadcast against each other, and singularities masked too late."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from torchlint.condition import Condition
from torchlint.model.events import Shape
from torchlint.model.events.numerics import LossBroadcast, MaskedSingularity
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.guards import Truth, conditions
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Choice, Sequence, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import MASKED, SINGULAR, SQUARED_MEAN, Concern, here

_ELEMENTWISE_LOSSES = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
"""How a mask is made of a tensor and a number."""


_ENDS = frozenset({"detach", "item", "numpy", "tolist"})
"""What takes numbers out of a graph: no gradient comes back through it."""
_ELEMENTWISE = frozenset(
    """
    * + - / ** abs add clone div double exp expm1 float half log log10 log1p log2 mul multiply neg negative pow
    reciprocal rsqrt sigmoid sin cos sqrt square sub subtract tanh to
    """.split()  # noqa: SIM905
)
"""What hands the gradient of 0 that an element gets on to the same element of what it was given, as 0 or as NaN."""
_DEPTH: Final = 3
_STOPPING = frozenset({"relu", "relu_", "relu6", "threshold", "threshold_"})
"""What hands nothing on where its result is 0, not even NaN (`threshold_backward`)."""


@dataclass(slots=True, eq=False)
class _Flow:
    """A tensor on the way from a masked result to whatever is differentiated: where it is read, where used."""

    tensor: Tensor
    source: MaskedSingularity
    reads: int = 0
    uses: int = 0


def _points(function: str) -> tuple[float, ...]:
    """Where a function is singular."""
    if function in ("acos", "asin", "atanh"):
        return -1.0, 1.0
    return (1.0,) if function == "acosh" else (0.0,)


def both_expanded(left: Shape, right: Shape) -> bool:
    """Whether broadcasting stretches both: (n, 1) against (n,) becomes (n, n)."""
    if left is None or right is None:
        return False
    rank = max(len(left), len(right))
    ones: tuple[int | None, ...] = (1,) * rank
    pairs = list(zip((ones + left)[-rank:], (ones + right)[-rank:], strict=True)) if rank else []
    return any(a == 1 and b != 1 for a, b in pairs) and any(b == 1 and a != 1 for a, b in pairs)


def one_expanded(given: Shape, target: Shape) -> bool:
    """
    Whether broadcasting stretches the target of a loss along an axis of 1 that it has: (1, 1) against (n, 1). A single
    number, or a target that lacks the axis, may well be meant for all.
    """
    if given is None or target is None or len(given) != len(target):
        return False
    stretched = [b == 1 and a is not None and a != 1 for a, b in zip(given, target, strict=True)]
    return any(stretched) and all(one or a == b for one, a, b in zip(stretched, given, target, strict=True))


class Broadcasts(Computations):
    """Raises `LossBroadcast` and `MaskedSingularity`."""

    concerns = (
        Concern(anywhere=(_ELEMENTWISE_LOSSES | {"+MSELoss", "+L1Loss", "+SmoothL1Loss", "+HuberLoss"},)),
        here(SQUARED_MEAN),
        here("where masked_fill", MASKED),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._flows: dict[int, list[_Flow]] = {}

    def computed(self, made: Computation) -> None:
        if self._flows:
            self._follow(made)
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
        square = both_expanded(left.shape, right.shape)
        if square or (loss != "-" and one_expanded(left.shape, right.shape)):
            self.machine.emit(
                LossBroadcast(
                    node=made.node,
                    statement=made.line,
                    loss=loss,
                    left=nodes[0],
                    right=nodes[1],
                    left_shape=left.shape,
                    right_shape=right.shape,
                    square=square,
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
        if mask is None or mask.name not in COMPARISONS or len(mask.operands) != 2:
            return
        for number, branch in enumerate(branches):
            kept_if = how == "where" and number == 0
            events = (self._masks(made, how, mask, kept_if, each) for each in self._through(branch, _DEPTH))
            event = next((each for each in events if each is not None), None)
            if event is None:
                continue
            if not isinstance(made.result, Tensor) or self.machine.foreign_call is not None:
                self.machine.emit(event)
            elif not self.machine.expected_errors:
                self._flows.setdefault(id(made.result), []).append(_Flow(made.result, self.machine.with_truth(event)))

    def _through(self, value: Value, depth: int) -> Iterator[Computation]:
        """What made a value, and what made the values that went into it element by element."""
        made = self.maker(value)
        if made is None:
            return
        yield made
        if depth and made.name in _ELEMENTWISE:
            for each in made.operands:
                yield from self._through(each, depth - 1)

    def _masks(
        self,
        made: Computation,
        how: Literal["where", "masked_fill"],
        mask: Computation,
        kept_if: bool,
        singular: Computation,
    ) -> MaskedSingularity | None:
        """The event, if what is computed on the way is singular where the mask drops it."""
        place = self._singular_operand(singular)
        if place is None:
            return None
        value, written = singular.operands[place], singular.written(place, "input", "other")
        if written is None or not self._drops(mask, value, singular.name, kept_if):
            return None
        stopping = self.behind_views(value)
        if stopping is not None and stopping.name in _STOPPING and 0.0 in _points(singular.name):
            return None
        truth, needs = self._requires_grad(value)
        if truth is Truth.NO:
            return None
        return MaskedSingularity(
            node=made.node,
            statement=made.line,
            truth=truth,
            conditions=needs,
            how=how,
            function=singular.name,
            computed=singular.node,
            operand=written,
        )

    # -- where the masked result goes

    def _follow(self, made: Computation) -> None:
        """A use ends where nothing is differentiated, as in a comparison, or goes on in the result."""
        results = made.result.items or () if isinstance(made.result, Sequence) else (made.result,)
        grads = [each for each in results if isinstance(each, Tensor) and each.requires_grad.truth() is not Truth.NO]
        unknown = made.name not in _ENDS and any(isinstance(each, (Unknown, Choice)) for each in results)
        for value in (*made.operands, *made.keywords.values()):
            for operand in (value.items or ()) if isinstance(value, Sequence) else (value,):
                for flow in () if unknown else tuple(self._flows.get(id(operand), ())):
                    flow.uses += 1
                    for each in grads:
                        known = self._flows.setdefault(id(each), [])
                        if all(other.source is not flow.source for other in known):
                            known.append(_Flow(each, flow.source))

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        for flow in self._flows.get(id(value), ()) if self._flows else ():
            flow.reads += 1

    def concluded(self) -> None:
        told: set[int] = set()
        for flow in [each for flows in self._flows.values() for each in flows]:
            # read more often than computed with: it is returned, kept, or given to code that may differentiate it
            if flow.uses < max(1, flow.reads) and id(flow.source) not in told:
                told.add(id(flow.source))
                self.machine.emit(flow.source)
        self._flows = {}

    def _drops(self, mask: Computation, value: Value, function: str, kept_if: bool) -> bool:
        """Whether the mask compares the value with a number so that the function's singular point is dropped."""
        for position, other in ((0, 1), (1, 0)):
            bound = constant(mask.operands[other])
            if not self._same(value, mask.operands[position]) or not isinstance(bound, (int, float)):
                continue
            compare = COMPARISONS[mask.name]
            held = [compare(point, bound) if position == 0 else compare(bound, point) for point in _points(function)]
            return any(each is not kept_if for each in held)
        return False

    def _singular_operand(self, made: Computation) -> int | None:
        if not made.operands:
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
