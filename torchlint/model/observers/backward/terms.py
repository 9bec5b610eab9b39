"""
Sees losses with a term that was cut from the graph, beside others that were not.

A sum's gradient with respect to what such a term was computed from is nothing. Looks only at terms of the root itself,
with constant weights: a target, a baseline or a weight stands inside a product or a loss. Does not judge.
"""

from __future__ import annotations

import re

from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import TermWithoutGradient
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import PendingEvents, expression
from torchlint.model.state.computations import Computation, Computations
from torchlint.model.state.guards import Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Function, GraphNode, Scalar, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import anywhere

_CUTS = "detach item data argmax argmin"
_REASON = re.compile(r"`(detach\(\)|\.data)`|is not differentiable")
_SUMS = frozenset({"+", "-", "add", "sub"})
_SCALED = frozenset({"*", "/", "mul", "div"})
_MOST = 20


class Terms(Computations):
    """Raises `TermWithoutGradient`."""

    words = tuple(_CUTS.split())
    concerns = (anywhere(_CUTS, "backward"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine, attested=True)
        self._numbers: dict[int, Value] = {}
        """Numbers taken out of tensors of a graph, and their products with other numbers."""

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._numbers.clear()

    def concluded(self) -> None:
        self.pending.flush()
        self._numbers.clear()

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "item" and isinstance(result, Scalar) and _requires_grad(receiver) is Truth.YES:
            self._numbers[id(result)] = result

    def binary(self, op: str, left: Value, right: Value, result: Value, origin: ir.Binary) -> None:
        if (
            op in ("*", "/")
            and isinstance(result, Scalar)
            and (id(left) in self._numbers or id(right) in self._numbers)
        ):
            self._numbers[id(result)] = result

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
        self.pending.ran_backward()
        if self.machine.foreign_call is not None:
            return
        found: list[tuple[Value, ir.Node | None, Computation]] = []
        self._terms(root, found)
        learning = [value for value, _, _ in found if _requires_grad(value) is Truth.YES]
        cut = [each for each in found if self._reason(each[0])]
        if not learning or not cut or len(cut) + len(learning) != len(found):
            return
        if any(self._shares(value, learning) or _is_carried(value, made) for value, _, made in cut):
            return
        value, written, made = cut[0]
        event = TermWithoutGradient(
            node=origin.origin,
            statement=self.machine.line(),
            trace=(Step(made.origin.origin, "it is added here"),),
            term_node=expression(written) if written is not None else None,
            cut=self._reason(value),
        )
        self.pending.add(event, made.path)

    def _terms(self, value: Value, found: list[tuple[Value, ir.Node | None, Computation]], depth: int = 0) -> None:
        made = self.maker(value)
        if made is None or depth > _MOST or len(found) > _MOST:
            return
        if made.name in _SUMS and len(made.operands) == 2 and not made.keywords:
            written = _operands(made)
            for index, each in enumerate(made.operands):
                inner = self.maker(each)
                if inner is not None and self._is_sum(inner) and not self._reason(each):
                    self._terms(each, found, depth + 1)
                else:
                    found.append((each, written[index], made))
        elif self._is_sum(made):
            scaled = next(each for each in made.operands if not isinstance(each, (Constant, Scalar)))
            self._terms(scaled, found, depth + 1)

    def _is_sum(self, made: Computation) -> bool:
        """Whether a computation is a sum, or one times a number."""
        for _ in range(_MOST):
            if made.keywords or len(made.operands) != 2:
                return False
            if made.name in _SUMS:
                return True
            if made.name not in _SCALED or (
                made.name in ("/", "div") and not isinstance(made.operands[1], (Constant, Scalar))
            ):
                return False
            others = [each for each in made.operands if not isinstance(each, (Constant, Scalar))]
            inner = self.maker(others[0]) if len(others) == 1 else None
            if inner is None:
                return False
            made = inner
        return False

    def _reason(self, value: Value) -> str:
        """Why a value that came from a graph is in none, if it did."""
        if isinstance(value, Scalar):
            return "`.item()` returns a number" if id(value) in self._numbers else ""
        if (
            not isinstance(value, Tensor)
            or value.requires_grad.truth() is not Truth.NO
            or not _REASON.search(value.cut)
        ):
            return ""
        return value.cut if any(each.requires_grad.truth() is Truth.YES for each in _sources(value)) else ""

    def _shares(self, cut: Value, learning: list[Value]) -> bool:
        """Whether what was cut is, or was computed from, a term that is there as well: `x - x.detach()`, on purpose."""
        wanted = {id(each.storage) for each in learning if isinstance(each, Tensor)}
        return isinstance(cut, Tensor) and any(id(each.storage) in wanted for each in _sources(cut))


def _is_carried(cut: Value, made: Computation) -> bool:
    """Whether what was cut is the same sum of an earlier round: a running mean."""
    return isinstance(cut, Tensor) and any(each.origin is made.origin for each in _sources(cut))


def _sources(tensor: Tensor) -> list[Tensor]:
    """A tensor and what it was computed or cut from, the nearest fifty."""
    pending, found = [tensor], dict[int, Tensor]()
    while pending and len(found) < 50:
        each = pending.pop(0)
        if id(each) not in found:
            found[id(each)] = each
            pending += each.inputs
            if each.alias is not None:
                pending.append(each.alias.source)
    return list(found.values())


def _operands(made: Computation) -> list[ir.Node | None]:
    origin = made.origin
    if isinstance(origin, ir.Binary):
        return [origin.left, origin.right]
    return [None, None]


def _requires_grad(value: Value) -> Truth:
    tensor = value.tensor if isinstance(value, Unknown) else value
    return tensor.requires_grad.truth() if isinstance(tensor, Tensor) else Truth.NO
