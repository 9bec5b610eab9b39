"""
Sums and lists that a loop fills with tensors and their graphs.

Says where a tensor, whose graph a backward of the same iteration has used up, is added to something that lives on,
and that nothing differentiates later. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import GraphKeptByLoop
from torchlint.model.observers.pending import PendingEvents, argument, expression, only
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import (
    Function,
    GraphNode,
    Instance,
    Mapping,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.dataflow import alike
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import written

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
        self.pending = PendingEvents(machine)
        self._additions: dict[tuple[int, tuple[int, ...]], list[_Addition]] = {}
        """By the place, and the iterations of the loops around its loop: one run of a loop is looked through."""
        self._passes: list[_Pass] = []
        self._loops: list[ir.For] = []
        self._begun: dict[str, _Addition] = {}
        """What a loop has last given a name, as it is: `mean = loss` where `mean` is None."""

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        self.pending.flush()
        self._additions.clear()
        self._passes.clear()
        self._loops.clear()
        self._begun.clear()

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
            return
        statement = self.machine.statement
        if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
            return
        value = statement.value  # `mean = loss if mean is None else 0.9 * mean + 0.1 * loss`
        arms = (value.body, value.orelse) if isinstance(value, ir.Conditional) else (value,)
        if not any(arm is origin for arm in arms):
            return
        target = statements_target(statement)
        if isinstance(origin, ir.Binary) and origin.op == "+" and alike(target, origin.left):
            self._sum(origin.left, origin.right, result, bound, origin)
        elif isinstance(target, (ir.Name, ir.Attribute)) and isinstance(origin, (ir.Binary, ir.Call)):
            self._running(target, result, bound, origin)

    def _running(
        self, target: ir.Expression, result: Value, bound: dict[str, Value], origin: ir.Binary | ir.Call
    ) -> None:
        """`mean = 0.9 * mean + 0.1 * loss`, `most = torch.maximum(most, loss)`: the old value is somewhere inside."""
        options = [each for _, each in alternatives(result, self.machine.guard)]
        if len(options) != 1 or not isinstance(options[0], Tensor) or len(options[0].grad_fn) != 1:
            return
        node, iteration = options[0].grad_fn[0][1], self.machine.iteration
        earlier = self._earlier(origin)
        begun = self._begun.get(dotted(target))
        again = begun is not None and _stands_in(target, origin)
        if not earlier and begun is not None and again and _follows(begun.iteration, iteration):
            earlier = [begun]
        old = {id(each.result) for each in earlier if each.result is not None}
        old |= {id(node) for each in earlier if each.result is None for _, node in each.value.grad_fn}
        own = [
            tensor
            for tensor in _tensors(bound)
            if tensor is not options[0] and _made_in(tensor, iteration) and not _leads_to(tensor, old, iteration)
        ]
        if begun is not None and again and begun.iteration == iteration and _is_begun(options[0], begun.value):
            # `if mean is None: mean = loss` stands before it: the first mean is of one loss and itself
            self._begun[dotted(target)] = _Addition(iteration, options[0], None, None)
        if len(own) != 1:
            return
        addition = _Addition(iteration, own[0], target, node)
        self._added(origin, addition)
        if earlier and _leads_to(options[0], old, iteration):
            written = [each for each in ir.walk(origin) if isinstance(each, (ir.Name, ir.Attribute))]
            names = {each.name for each in (own[0], *own[0].inputs) if each.name}
            value = next((each for each in written if dotted(each) in names), None)
            self._tell(earlier[-1], addition, value or origin, target, "sum", origin)

    def _sum(
        self, target: ir.Expression, added: ir.Expression, result: Value, bound: dict[str, Value], origin: ir.Node
    ) -> None:
        options = [each for _, each in alternatives(result, self.machine.guard)]
        if len(options) != 1 or not isinstance(options[0], Tensor) or len(options[0].grad_fn) != 1:
            return
        total, node = options[0], options[0].grad_fn[0][1]
        iteration = self.machine.iteration
        own = [tensor for tensor in _tensors(bound) if tensor is not total and _made_in(tensor, iteration)]
        if len(own) != 1:
            return
        earlier = self._earlier(origin)
        addition = _Addition(iteration, own[0], target, node)
        grows = [each for each in earlier if any(edge is each.result for _, edge in node.edges)]
        self._added(origin, addition)
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
            or receiver.kind == "deque"  # what is put in at one end leaves at the other
            or not isinstance(function, ir.Attribute)
        ):
            return
        given = argument(origin, 0)
        if given is not None and len(positional) == 1:
            self._put(receiver, function.value, positional[0], given.value, origin)

    def ran(self, statement: ir.Statement) -> None:
        if not self.machine.iteration:
            return
        if isinstance(statement, ir.Assign) and len(statement.targets) == 1 and statement.value is not None:
            target, value = statement.targets[0], statement.value
            self._begin(target, value)
            if isinstance(target, ir.Subscript) and self._varies(target.index):
                container = self._value(target.value)
                if isinstance(container, Mapping):
                    self._put(container, target.value, self._value(value), value, statement)
            elif isinstance(value, ir.Binary) and value.op == "+" and alike(target, value.left):
                self._put_all(target, value.right, statement)
        elif isinstance(statement, ir.AugmentedAssign) and statement.op == "+":
            self._put_all(statement.target, statement.value, statement)

    def _begin(self, target: ir.Expression, value: ir.Expression) -> None:
        """`mean = loss`, `mean = loss if mean is None else …`: a running value begins with a value of its own."""
        arms = (value.body, value.orelse) if isinstance(value, ir.Conditional) else (value,)
        if isinstance(target, (ir.Name, ir.Attribute)) and any(isinstance(arm, ir.Name) for arm in arms):
            given, iteration = self._value(target), self.machine.iteration
            if isinstance(given, Tensor) and _made_in(given, iteration):
                self._begun[dotted(target)] = _Addition(iteration, given, None, None)

    def _put_all(self, target: ir.Expression, value: ir.Expression, origin: ir.Node) -> None:
        """`losses = losses + [loss]`, `losses += [loss]`: the list may be another one each time."""
        if isinstance(value, ir.Sequence) and len(value.elements) == 1 and isinstance(self._value(target), Sequence):
            self._put(None, target, self._value(value.elements[0]), value.elements[0], origin)

    def _varies(self, index: ir.Expression) -> bool:
        """Whether an index is a name that a running loop binds anew in each iteration."""
        return isinstance(index, ir.Name) and any(
            isinstance(each, ir.Name) and each.id == index.id for loop in self._loops for each in ir.walk(loop.target)
        )

    def _value(self, node: ir.Expression) -> Value | None:
        """What a name, or an attribute of `self`, stands for after the statement has run."""
        variables = self.machine.frame.variables
        if isinstance(node, ir.Name):
            return only(variables[node.id], self.machine) if node.id in variables else None
        if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name):
            owner = variables.get(node.value.id)
            if isinstance(owner, Instance) and node.attr in owner.attributes:
                return only(owner.attributes[node.attr], self.machine)
        return None

    def loop_started(self, node: ir.For | ir.While) -> None:
        if isinstance(node, ir.For):
            self._loops.append(node)

    def loop_left(self, node: ir.For | ir.While) -> None:
        if self._loops and self._loops[-1] is node:
            self._loops.pop()

    def _put(
        self, container: Value | None, place: ir.Expression, value: Value | None, given: ir.Expression, origin: ir.Node
    ) -> None:
        """A value becomes an element; of a tuple, a list or a dictionary, the one part that has a graph."""
        if isinstance(value, (Sequence, Mapping)):
            written = _elements(given)
            items = value.items if isinstance(value, Sequence) else tuple((value.items or {}).values())
            if items is None or len(written) != len(items):
                return
            for part, expression_ in zip(items, written, strict=True):
                if isinstance(part, (Tensor, Unknown)):
                    self._put(container, place, part, expression_, origin)
            return
        if isinstance(value, Unknown):
            value = value.tensor
        iteration = self.machine.iteration
        if not isinstance(value, Tensor) or not _made_in(value, iteration):
            return
        earlier = [each for each in self._earlier(given) if each.container is container]
        addition = _Addition(iteration, value, container, None)
        self._added(given, addition)
        if earlier and earlier[-1].value is not value and _holds_still(container, earlier[-1].value):
            self._tell(earlier[-1], addition, given, place, "list", origin)

    def _added(self, origin: ir.Node, addition: _Addition) -> None:
        self._additions.setdefault((id(origin), addition.iteration[:-1]), []).append(addition)

    def _earlier(self, origin: ir.Node) -> list[_Addition]:
        """Additions at the same place in earlier iterations of the same loop."""
        iteration = self.machine.iteration
        return [each for each in self._additions.get((id(origin), iteration[:-1]), ()) if each.iteration != iteration]

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
            container=written(kept),
            how=how,
        )
        self.pending.add(event, valid=lambda: self._used_up(first) and self._used_up(second))

    def _used_up(self, addition: _Addition) -> bool:
        """A backward of that very iteration came to the value's graph, and none to the collection."""
        nodes = [node for _, node in addition.value.grad_fn if node is not addition.result]
        own = {id(node) for node in nodes}
        if not any(each.nodes & own for each in self._passes):
            own = _freed_behind(nodes, addition.iteration)  # `loss * len(x)`: a value made of what was differentiated
        result = id(addition.result)
        mine = [each for each in self._passes if each.nodes & own]
        return bool(mine) and all(each.iteration == addition.iteration and result not in each.nodes for each in mine)


def _tensors(bound: dict[str, Value]) -> list[Tensor]:
    found = [value.tensor if isinstance(value, Unknown) else value for value in bound.values()]
    return [each for each in found if isinstance(each, Tensor)]


def _stands_in(target: ir.Expression, origin: ir.Node) -> bool:
    return any(alike(target, each) for each in ir.walk(origin) if isinstance(each, (ir.Name, ir.Attribute)))


def _holds_still(container: Value | None, value: Tensor) -> bool:
    """Whether a list has not been cleared of a value that was put there in an earlier iteration."""
    if not isinstance(container, Sequence) or container.items is None:
        return True
    return any(each is value for each in reachable_tensors(container))


def _follows(earlier: tuple[int, ...], iteration: tuple[int, ...]) -> bool:
    """Whether two iterations are different ones of one loop."""
    return earlier[:-1] == iteration[:-1] and earlier != iteration


def _elements(node: ir.Expression) -> list[ir.Expression]:
    """The expressions of a tuple, a list or a dictionary that is written out."""
    if isinstance(node, ir.Sequence):
        return node.elements
    return node.values if isinstance(node, ir.Dict) and None not in node.keys else []


def _leads_to(tensor: Tensor, targets: set[int], iteration: tuple[int, ...]) -> bool:
    """Whether the nodes of this iteration behind a tensor have an edge to one of these of an earlier one."""
    seen: set[int] = set()
    pending = [node for _, node in tensor.grad_fn]
    while pending and len(seen) < MOST_BEHIND:
        node = pending.pop()
        if id(node) in targets:
            return True
        if id(node) not in seen and node.iteration == iteration:
            seen.add(id(node))
            pending += [edge for _, edge in node.edges if isinstance(edge, GraphNode)]
    return False


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


def _is_begun(tensor: Tensor, value: Tensor) -> bool:
    """Whether a tensor was made, in the iteration in which a running value began, of that value."""
    nodes = {id(node) for _, node in value.grad_fn}
    return all(_leads_to(tensor, nodes, node.iteration) for _, node in tensor.grad_fn)


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
