"""
Sums and lists that a loop fills with tensors and their graphs.

Says where a tensor, whose graph a backward of the same iteration has used up, is added to something that lives on,
and that nothing differentiates later. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import GraphKeptByLoop
from torchlint.model.observers.pending import Held, argument, expression
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import Function, GraphNode, Sequence, Tensor, Unknown, Value, alternatives
from torchlint.syntax import ir
from torchlint.syntax.dataflow import alike
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.tree import parsed

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

MOST_BEHIND = 64
"""Nodes behind a value that are looked at."""


@dataclass(slots=True, eq=False)
class _Addition:
    """One addition: what was added, to what, and the nodes of both."""

    iteration: tuple[int, ...]
    value: Tensor
    container: object | None
    result: GraphNode | None


@dataclass(slots=True, eq=False)
class _Pass:
    """One backward: its iteration and the nodes it came to."""

    iteration: tuple[int, ...]
    nodes: set[int]
    guard: Guard


class Collections(Observer):
    """Watches what a loop adds up."""

    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.held = Held(machine)
        self._additions: dict[int, list[_Addition]] = {}
        self._passes: list[_Pass] = []

    def entry_started(self, function: Function | None) -> None:
        self.held.start(function is None)

    def concluded(self) -> None:
        self.held.tell()
        self._additions.clear()
        self._passes.clear()

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
        guard = self.machine.guard
        self._passes.append(_Pass(self.machine.iteration, {id(node) for node in nodes}, guard))

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        if not self.machine.iteration:
            return
        if isinstance(origin, ir.AugmentedAssign) and origin.op == "+":
            self._sum(origin.target, origin.value, result, bound, origin)
        elif isinstance(origin, ir.Binary) and origin.op == "+" and isinstance(self.machine.statement, ir.Assign):
            statement = self.machine.statement
            if statement.value is not origin or len(statement.targets) != 1:
                return
            if alike(statements_target(statement), origin.left):
                self._sum(origin.left, origin.right, result, bound, origin)

    def _sum(
        self, target: ir.Expression, added: ir.Expression, result: Value, bound: dict[str, Value], origin: ir.Node
    ) -> None:
        options = [each for _, each in alternatives(result, self.machine.guard)]
        if len(options) != 1 or not isinstance(options[0], Tensor) or len(options[0].grad_fn) != 1:
            return
        total, node = options[0], options[0].grad_fn[0][1]
        iteration = self.machine.iteration
        own = [tensor for tensor in self._tensors(bound) if tensor is not total and _made_in(tensor, iteration)]
        if len(own) != 1:
            return
        earlier = self._earlier(origin)
        addition = _Addition(iteration, own[0], target, node)
        grows = [each for each in earlier if any(edge is each.result for _, edge in node.edges)]
        self._additions.setdefault(id(origin), []).append(addition)
        if grows:
            self._tell(grows[-1], addition, added, target, "sum", origin)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        iteration = self.machine.iteration
        function = origin.function
        if (
            name != "append"
            or not iteration
            or not isinstance(receiver, Sequence)
            or not isinstance(function, ir.Attribute)
        ):
            return
        value = positional[0] if len(positional) == 1 else None
        if isinstance(value, Unknown):
            value = value.tensor
        given = argument(origin, 0)
        if not isinstance(value, Tensor) or given is None or not _made_in(value, iteration):
            return
        earlier = [each for each in self._earlier(origin) if each.container is receiver]
        addition = _Addition(iteration, value, receiver, None)
        self._additions.setdefault(id(origin), []).append(addition)
        if earlier and earlier[-1].value is not value:
            self._tell(earlier[-1], addition, given.value, function.value, "list", origin)

    def _earlier(self, origin: ir.Node) -> list[_Addition]:
        """Additions at the same place in earlier iterations of the same loop."""
        iteration = self.machine.iteration
        return [
            each
            for each in self._additions.get(id(origin), [])
            if each.iteration[:-1] == iteration[:-1] and each.iteration != iteration
        ]

    def _tensors(self, bound: dict[str, Value]) -> list[Tensor]:
        return [each for value in bound.values() if isinstance(each := value, Tensor)]

    def _tell(
        self,
        first: _Addition,
        second: _Addition,
        value: ir.Expression,
        container: ir.Expression,
        how: Literal["sum", "list"],
        origin: ir.Node,
    ) -> None:
        node, kept = expression(value), expression(container)
        if node is None or kept is None:
            return
        where = origin.origin if isinstance(origin.origin, cst.BaseExpression) else node
        event = GraphKeptByLoop(
            node=where,
            statement=self.machine.line(),
            trace=tuple(s for s in (self.machine.created(second.value),) if s is not None and s.node is not where),
            value=self.machine.facts(second.value),
            value_node=node,
            container=cst.Module(body=[]).code_for_node(parsed(kept)),
            how=how,
        )
        self.held.hold(event, valid=lambda: self._used_up(first) and self._used_up(second))

    def _used_up(self, addition: _Addition) -> bool:
        """A backward of that very iteration came to the value's graph, and none to the collection."""
        nodes = [node for _, node in addition.value.grad_fn if node is not addition.result]
        own = {id(node) for node in nodes}
        if not any(each.nodes & own for each in self._passes):
            own = _freed_behind(nodes, addition.iteration)  # `loss * len(x)`: a value made of what was differentiated
        result = id(addition.result)
        mine = [each for each in self._passes if each.nodes & own]
        return bool(mine) and all(each.iteration == addition.iteration and result not in each.nodes for each in mine)


def _freed_behind(nodes: list[GraphNode], iteration: tuple[int, ...]) -> set[int]:
    """The nodes of this iteration that lead to these, if backward has freed one of them: nobody comes there again."""
    found: dict[int, GraphNode] = {}
    pending = list(nodes)
    while pending and len(found) < MOST_BEHIND:
        node = pending.pop()
        if id(node) not in found and node.iteration == iteration:
            found[id(node)] = node
            pending += [edge for _, edge in node.edges if isinstance(edge, GraphNode)]
    freed = any(node.releases and (node.saved or node.opaque) for node in found.values())
    return set(found) if freed else set()


def statements_target(statement: ir.Assign) -> ir.Expression:
    """The one target of an assignment."""
    return statement.targets[0]


def _made_in(tensor: Tensor, iteration: tuple[int, ...]) -> bool:
    """Whether a tensor was recorded in this iteration (or returned by unknown code), and requires grad."""
    return (
        bool(tensor.grad_fn)
        and tensor.requires_grad.truth() is Truth.YES
        and all(
            node.iteration == iteration and (not node.opaque or isinstance(tensor.origin, ir.Call))
            for _, node in tensor.grad_fn
        )
    )
