"""Sees training loops that wait for the value of a tensor in every round."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchlint.model.events import BackwardCallee
from torchlint.model.events.work import Synchronised
from torchlint.model.state.computations import VIEWS, Computations
from torchlint.model.state.guards import ALWAYS, Guard
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import GraphNode, Tensor, Value
from torchlint.syntax import cst, ir

_METHODS = frozenset({"item", "tolist", "cpu", "numpy"})
_FUNCTIONS = {"builtins.print": "print", "builtins.float": "float", "builtins.int": "int"}


@dataclass(slots=True, eq=False)
class _Round:
    """What happens in the innermost loop."""

    node: ir.For | ir.While
    path: Guard = ALWAYS
    differentiated: bool = False
    stepped: bool = False
    waits: list[Synchronised] = field(default_factory=list)


class Synchronisation(Computations):
    """Raises `Synchronised`."""

    words = ("backward",)
    concerns = ()

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._loops: list[_Round] = []

    def loop_started(self, node: ir.For | ir.While) -> None:
        self._loops.append(_Round(node))

    def iteration_started(self, node: ir.For | ir.While, number: int) -> None:
        if self._loops:
            self._loops[-1].path = self.machine.path

    def loop_left(self, node: ir.For | ir.While) -> None:
        while self._loops:
            loop = self._loops.pop()
            if loop.differentiated and loop.stepped:
                for event in loop.waits:
                    self.machine.emit(event)
            if loop.node is node:
                return

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
        if self._loops and callee != "autograd.grad":
            self._loops[-1].differentiated = True

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        if self._loops:
            self._loops[-1].stepped = True

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name in _METHODS and not positional:
            self._waited(receiver, f"{name}()", origin)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified in _FUNCTIONS:
            for value in positional:
                self._waited(value, _FUNCTIONS[qualified], origin)

    def _waited(self, value: Value, how: str, origin: ir.Call) -> None:
        machine = self.machine
        tensor = self.tensor(value)
        if not self._loops or tensor is None or not self._is_computed(value):
            return
        loop = self._loops[-1]
        if machine.path <= loop.path and any(line is machine.line() for line in _every_round(loop.node.body)):
            wait = Synchronised(node=origin.origin, statement=machine.line(), how=how, tensor=tensor.name)
            loop.waits.append(machine.with_truth(wait))

    def _is_computed(self, value: Value) -> bool:
        """Whether an operation computed the values: it may be on its way yet."""
        made = self.maker(value)
        while made is not None and made.name in VIEWS and made.operands and made.operands[0] is not value:
            value = made.operands[0]
            made = self.maker(value)
        tensor = self.tensor(value)
        return tensor is not None and tensor.op != ""

    def concluded(self) -> None:
        self._loops = []


def _every_round(body: list[ir.Statement]) -> list[cst.CSTNode]:
    """The lines of simple statements that each round of a loop runs, without those that only some do."""
    lines: list[cst.CSTNode] = []
    for statement in body:
        if isinstance(statement, (ir.With, ir.Try)):
            lines += _every_round(statement.body)
        elif not isinstance(statement, (ir.If, ir.For, ir.While, ir.Assert)):
            lines.append(statement.line)
    return lines
