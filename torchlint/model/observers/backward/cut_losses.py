"""
Losses that are made of cut values and of what a loop over data gives: no gradient comes to the network from them.

`loss = F.mse_loss(net(x).detach(), y)` for `x, y` of a loader: nobody knows whether `y` requires grad; that it does is
the one way for `loss` to have a graph, for everything else it is made of has none. Every value that goes into the loss
must be known for one of these, or for a number. Values of unknown networks are cut by what is done with them
(`detach()`, `.data`, a call under `no_grad`). Reads; does not judge.
"""

from __future__ import annotations

import re

from torchlint.knowledge.ops import find as ops
from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import CutLossDifferentiated
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import expression
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    FROM_DATA,
    NOT_RECORDED,
    Choice,
    Constant,
    External,
    Function,
    GraphNode,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import ir
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.spelling import bound_by

_DATA = re.compile(r"load|data|batch|train|valid|test|samples|(^|_)(dl|it|iter|iterator)$", re.IGNORECASE)
"""What people call that over which they loop for examples."""
_MOVES = frozenset({"to", "cuda", "cpu"})
_FLAGGING = frozenset({"requires_grad_", "retain_grad"})
_MOST = 60
"""Values that are looked at on the way back from a root."""


class CutLosses(Observer):
    """Raises `CutLossDifferentiated`."""

    words = (".backward",)
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._start()

    def _start(self) -> None:
        self._data: dict[int, tuple[Value, str]] = {}
        self._cut: dict[int, tuple[Value, str, Step | None]] = {}
        self._made: dict[int, tuple[Value, tuple[Value, ...]]] = {}
        self._unseen: dict[int, tuple[Unknown, tuple[Value, ...]]] = {}
        self._told: set[int] = set()

    def entry_started(self, function: Function | None) -> None:
        self._start()

    def concluded(self) -> None:
        self._start()

    # -- what is data, and what is cut

    def iteration_started(self, node: ir.For | ir.While, number: int) -> None:
        source = _source(node.iterable) if isinstance(node, ir.For) else ""
        if not source or not isinstance(node, ir.For):
            return
        variables = self.machine.frame.variables
        for name in bound_by(node.target):
            value = variables.get(name)
            if isinstance(value, Unknown) and not value.depends and value.part_of is None:
                self._data[id(value)] = (value, source)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name in _FLAGGING:
            self._data.pop(id(receiver), None)
        elif name == "detach" and isinstance(receiver, Unknown) and isinstance(result, (Unknown, Tensor)):
            self._cut_here(result, "`detach()` cuts it from the graph", origin)
        elif isinstance(result, (Unknown, Tensor)) and (name in _MOVES or ops.find(f"torch.Tensor.{name}")):
            self._pass_on(receiver, result)
            if isinstance(result, Unknown):
                self._unseen[id(result)] = (result, (receiver, *positional, *keywords.values()))

    def binary(self, op: str, left: Value, right: Value, result: Value, origin: ir.Binary) -> None:
        if isinstance(result, Unknown):
            self._unseen[id(result)] = (result, (left, right))

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name == "data" and isinstance(owner, Unknown) and isinstance(value, (Unknown, Tensor)):
            self._cut_here(value, "`.data` cuts it from the graph", origin)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if name == "requires_grad":
            self._data.pop(id(owner), None)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        statement = self.machine.statement
        if isinstance(statement, ir.ExpressionStatement) and statement.value is origin:
            for each in arguments:  # called for what it does to them
                self._data.pop(id(each), None)

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        written = node.value if isinstance(node, ir.Assign) else None
        if not isinstance(value, Unknown) or written is None:
            return
        if isinstance(written, ir.Subscript) and isinstance(written.value, ir.Name):
            self._pass_on(self.machine.frame.variables.get(written.value.id), value)
        elif isinstance(written, ir.Call) and self.machine.grad_mode is Truth.NO and id(value) not in self._data:
            self._cut_here(value, NOT_RECORDED, written)

    def _pass_on(self, source: Value | None, value: Value) -> None:
        """What is part of data, or data moved or reshaped, is data."""
        known = self._as_data(source)
        if known:
            self._data.setdefault(id(value), (value, known))
        cut = self._cut.get(id(source))
        if cut is not None:
            self._cut.setdefault(id(value), (value, *cut[1:]))

    def _as_data(self, value: Value | None) -> str:
        """How the program calls the loop's data that a value is, or is a part of (`batch[1]`); else empty."""
        known = self._data.get(id(value))
        if known is not None:
            return known[1]
        source = value.source if isinstance(value, Unknown) else None
        if isinstance(source, ir.Subscript) and isinstance(source.value, ir.Name):
            known = self._data.get(id(self.machine.frame.variables.get(source.value.id)))
        return known[1] if known is not None else ""

    def _cut_here(self, value: Value, reason: str, origin: ir.Node) -> None:
        self._cut.setdefault(id(value), (value, reason, Step(origin.origin, reason)))

    # -- what a loss is made of

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        if isinstance(result, Tensor):
            self._made[id(result)] = (result, tuple(bound.values()))

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
        machine = self.machine
        if not self._data or callee != "backward" or inputs is not None or id(origin) in self._told:
            return
        if machine.assumed - machine.path:
            return
        found = self._terms(root)
        function = origin.function if isinstance(origin, ir.Call) else None
        written = expression(function.value) if isinstance(function, ir.Attribute) else None
        if found is None or written is None or machine.expected_errors:
            return
        reason, step, source = found
        self._told.add(id(origin))
        machine.emit(
            CutLossDifferentiated(
                node=origin.origin,
                statement=machine.line(),
                trace=(step,) if step is not None else (),
                root=machine.facts(root),
                root_node=written,
                cut=reason,
                source=source,
            )
        )

    def _terms(self, root: Tensor) -> tuple[str, Step | None, str] | None:
        """Why a root has no graph, where it was cut, and which data may give it one; None where it may have one."""
        pending: list[Value] = list(self._operands(root))
        seen: set[int] = set()
        cuts: list[tuple[str, Step | None]] = []
        sources: list[str] = []
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if len(seen) > _MOST:
                return None
            unknown = self._unknown(value)
            data, cut = self._as_data(unknown), self._cut.get(id(unknown))
            if cut is not None:
                cuts.append(cut[1:])
            elif data:
                sources.append(data)
            elif isinstance(value, Sequence) and value.items is not None:
                pending += value.items
            elif isinstance(value, Choice):
                pending += [option for _, option in alternatives(value, self.machine.guard)]
            elif isinstance(value, Tensor) and value.requires_grad.truth() is Truth.NO:
                if value.cut and value.cut != FROM_DATA:
                    cuts.append((value.cut, self.machine.created(value)))
                else:
                    pending += self._made.get(id(value), (value, ()))[1]
            elif operands := self._operands(value):
                pending += operands
            elif not isinstance(value, (Constant, Scalar, External)):
                return None
        if not cuts or not sources:
            return None
        return cuts[0][0], cuts[0][1], sources[0]

    def _operands(self, value: Value) -> tuple[Value, ...]:
        """What a value was computed from; empty where that is not known."""
        unknown = self._unknown(value)
        held = self._made.get(id(value)) or self._unseen.get(id(unknown))
        return held[1] if held is not None else ()

    def _unknown(self, value: Value) -> Value:
        """The unknown value that has turned out to be this tensor."""
        if isinstance(value, Tensor):
            for each in (*self._data.values(), *self._cut.values(), *self._unseen.values()):
                held = each[0]
                if isinstance(held, Unknown) and (held.tensor is value or held.guess is value):
                    return held
        return value


def _source(node: ir.Expression) -> str:
    """How the program calls the data that it loops over; empty where it is not called so."""
    if isinstance(node, ir.Name):
        return node.id if _DATA.search(node.id) else ""
    if isinstance(node, ir.Attribute):
        return node.attr if _DATA.search(node.attr) else ""
    if isinstance(node, ir.Call):
        if isinstance(node.function, ir.Attribute) and node.function.attr in ("parameters", "named_parameters"):
            return ""
        return next(filter(None, (_source(each.value) for each in node.arguments)), "")
    return ""
