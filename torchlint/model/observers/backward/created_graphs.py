"""
Graphs of gradients: who asked for them with `create_graph=True`, and whether anybody differentiates them.

Follows the gradients through the operations the model knows; whatever goes to other code counts as differentiated
there. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.model.events import AutogradRefused, BackwardCallee, Event
from torchlint.model.events.gradients import CreatedGraphUnused
from torchlint.model.observers.pending import PendingEvents
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import (
    Bound,
    Function,
    GraphNode,
    Instance,
    Module,
    Tensor,
    Unknown,
    Value,
    Write,
    alternatives,
    explore,
    parts,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.spelling import identifier, is_called_loss

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

_MOST = 200
"""Tensors looked at for one that a tensor was computed from."""
_HOOKING = frozenset(
    {"register_hook", "register_multi_grad_hook", "register_full_backward_hook", "register_backward_hook"}
)
"""What hands the gradients of a pass to somebody, who may keep them."""
_OF_THE_GRAPH = frozenset({"requires_grad", "grad_fn", "is_leaf"})


@dataclass(slots=True, eq=False)
class _Created:
    """One call that created a graph of gradients, and what was computed from them."""

    origin: ir.Node
    argument: cst.Arg
    nodes: set[int]
    leaves: list[Tensor]
    accumulated: bool
    derived: dict[int, Tensor] = field(default_factory=dict)
    used: bool = False
    read_in: ir.Statement | None = None

    def holds(self, value: Value) -> bool:
        """Whether a value is computed from its gradients, or may be."""
        return any(self.gave(tensor) for tensor in reachable_tensors(value))

    def gave(self, tensor: Tensor) -> bool:
        """Whether a tensor is computed from its gradients, through whatever operations, views and indices."""
        pending, seen = [tensor], {id(tensor)}
        while pending and self.derived:
            each = pending.pop()
            if each.requires_grad.truth() is Truth.NO:
                continue  # what is detached leads nowhere
            if id(each) in self.derived:
                return True
            sources = [*each.inputs, *([each.alias.source] if each.alias is not None else [])]
            for source in sources if len(seen) < _MOST else ():
                if id(source) not in seen:
                    seen.add(id(source))
                    pending.append(source)
        return False


class CreatedGraphs(Observer):
    """Watches `create_graph=True`."""

    words = ("create_graph",)
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._created: list[_Created] = []
        self._needless_here: list[Event] = []
        self._used: set[int] = set()
        self._losses: list[tuple[str, _Created]] = []
        self._read: set[str] = set()
        self._depth = 0
        self._inner = 0
        self._hooked: dict[int, Tensor | GraphNode] | None = {}
        """The nodes and leaves whose gradients hooks take; None where that is not known."""

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._created.clear()
        self._losses.clear()
        self._read.clear()
        self._hooked = {}
        self._depth = 0
        self._inner = 0 if function is None else 1

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._depth += 1

    def function_ended(self, function: Function, result: Value) -> None:
        self._depth -= 1
        if self._depth < self._inner:
            self._leave(result)

    def concluded(self) -> None:
        for name, created in self._losses:
            # A penalty that is made and never read is forgotten: what is wrong is that, not the graph it needs.
            created.used = created.used or name not in self._read
        self.pending.flush(self._needless_here.append)
        self._used |= {id(each.argument) for each in self._created if self._differentiated(each)}
        self._created.clear()
        self._hooked = {}

    def finished(self) -> None:
        """What one caller of a function has no use for, another may differentiate."""
        for event in self._needless_here:
            if id(event.node) not in self._used:
                self.machine.emit(event)

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
        visited = {id(node) for node in nodes}
        for created in self._created:
            # Read again, the graph has to be retained, which `create_graph=True` does.
            created.used = created.used or bool(created.nodes & visited) or created.gave(root)
        written = _written(origin)
        accumulated = callee != "autograd.grad"
        if self._go_to_hooks(visited | {id(leaf) for leaf in leaves}, origin):
            return
        if create_graph is not True or written is None or (accumulated and any(node.opaque for node in nodes)):
            return
        created = _Created(origin, written, visited, list(leaves), accumulated)
        self._created.append(created)
        event = CreatedGraphUnused(
            node=written,
            statement=self.machine.line(),
            argument=written,
            call=_call(origin),
            accumulated=created.accumulated,
        )
        self.pending.add(event, valid=lambda: self._needless(origin))

    def _go_to_hooks(self, visited: set[int], origin: ir.Node) -> bool:
        """
        Whether hooks take gradients of this pass, which may be differentiated wherever somebody finds them. Who asks
        for gradients and drops them has no other use for them.
        """
        statement = self.machine.statement
        dropped = isinstance(statement, ir.ExpressionStatement) and statement.value is origin
        asked = isinstance(origin, ir.Call) and identifier(origin.function) == "grad"
        return (asked and dropped) or self._hooked is None or not visited.isdisjoint(self._hooked)

    def _needless(self, origin: ir.Node) -> bool:
        refused = any(isinstance(e, AutogradRefused) and e.node is origin.origin for e in self.machine.events)
        return not refused and not any(self._differentiated(each) for each in self._created if each.origin is origin)

    def _differentiated(self, created: _Created) -> bool:
        return created.used or any(tensor.storage.uses for tensor in created.derived.values())

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified in ("torch.autograd.grad", "torch.autograd.backward") and _unseen(positional, keywords):
            for created in self._created:
                created.used = created.used or (created.accumulated and created.origin is not origin)
        if qualified == "torch.autograd.grad" and result is not None:
            for created in self._created:
                if created.origin is origin:
                    created.derived |= {id(tensor): tensor for tensor in reachable_tensors(result)}
                    created.used = created.used or not created.derived

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name in _OF_THE_GRAPH:
            self._leave(owner)  # who asks wants the graph
        if name != "grad":
            return
        owners = [each for _, each in alternatives(owner)]
        for created in self._created:
            if created.accumulated and any(leaf is each for leaf in created.leaves for each in owners):
                created.derived |= {id(tensor): tensor for tensor in reachable_tensors(value)}

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        if self.machine.grad_mode is Truth.NO or _into_data(self.machine.statement):
            return  # nothing is recorded: what comes out has no graph
        for created in self._created:
            if any(created.holds(value) for value in bound.values()):
                created.derived |= {id(tensor): tensor for tensor in reachable_tensors(result)}

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        """What comes out of code that the model doesn't know may be anything made of what went in."""
        if name in _HOOKING and not (self._inner == 0 and positional and _is_in_sight(positional[0])):
            self._hook(receiver)
        if isinstance(result, Unknown) and isinstance(receiver, (Tensor, Unknown, Instance)):
            if isinstance(receiver, Instance):
                self._reach([receiver, *positional, *keywords.values()])
            for created in self._created:
                if any(created.holds(value) for value in (receiver, *positional, *keywords.values())):
                    created.used = created.used or name not in ("numpy", "tolist")

    def _hook(self, receiver: Value) -> None:
        tensors = [each.tensor if isinstance(each, Unknown) else each for _, each in alternatives(receiver)]
        for each in tensors:
            if not isinstance(each, Tensor):
                self._hooked = None  # of a Module, or of what nobody knows
            elif self._hooked is not None:
                self._hooked |= {id(each): each, **{id(node): node for _, node in each.grad_fn}}

    def entered(self, node: ir.With, contexts: list[Value]) -> None:
        """Whoever is entered may take gradients by hooks of its own (`with backpack(Variance()):`)."""
        if any(isinstance(each, Unknown) and not (each.foreign or each.keeps_flags) for each in contexts):
            self._hooked = None

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        self._reach([callee, *arguments] if receiver is None else [callee, receiver, *arguments])

    def _reach(self, given: list[Value]) -> None:
        """Code that the model doesn't know may differentiate `.grad` of each leaf that it gets at."""
        waiting = [each for each in self._created if each.accumulated and not each.used]
        if not waiting:
            return
        within = {id(each) for value in given for each in explore(value, _held) if isinstance(each, Tensor)}
        for created in waiting:
            created.used = any(id(leaf) in within for leaf in created.leaves)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if name != "data" or not isinstance(owner, Tensor):  # `.data` takes the numbers alone
            self._leave(value)

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        if is_called_loss(name):
            self._losses += [(name, each) for each in self._created if each.holds(value)]

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        self._read.add(name)
        for created in self._created:
            if created.holds(value):
                created.read_in = self.machine.statement

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        for created in self._created:
            if created.gave(tensor):
                created.derived |= {id(each): each for each in reachable_tensors(result)}

    def wrote(self, tensor: Tensor, write: Write) -> None:
        """
        A statement that writes in place, and reads a gradient, writes what comes of it. Where nothing is recorded, and
        into `.data`, the numbers alone are written.
        """
        if self.machine.grad_mode is Truth.NO or _into_data(self.machine.statement):
            return
        for created in self._created:
            created.used = created.used or (created.read_in is not None and created.read_in is self.machine.statement)

    def ran(self, statement: ir.Statement) -> None:
        """`x[i] = f(g)` where nobody knows what `x` is: a tensor that is in the graph from here on, perhaps."""
        targets = statement.targets if isinstance(statement, ir.Assign) else []
        if self.machine.grad_mode is not Truth.NO and any(isinstance(each, ir.Subscript) for each in targets):
            for created in self._created:
                created.used = created.used or created.read_in is statement

    def _leave(self, value: Value) -> None:
        for created in self._created:
            created.used = created.used or created.holds(value)


def _held(value: Value) -> list[Value]:
    """What code that has a value gets at."""
    if isinstance(value, Bound):
        return [value.receiver]
    if isinstance(value, Module):
        return [*value.parameters.values(), *(value.children or ())]
    if isinstance(value, Instance):
        return [*value.attributes.values(), *([value.layer] if value.layer is not None else [])]
    return parts(value)


def _into_data(statement: ir.Statement | None) -> bool:
    """`w.data -= …`: the tensor written has no other name, and what is assigned to `.data` loses its graph."""
    target = statement.target if isinstance(statement, ir.AugmentedAssign) else None
    return isinstance(target, ir.Attribute) and target.attr == "data"


def _unseen(positional: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether it is not known of what gradients are asked for."""
    roots = positional[0] if positional else keywords.get("outputs", keywords.get("tensors"))
    return roots is not None and any(isinstance(each, Unknown) for each in explore(roots, parts))


def _written(origin: ir.Node) -> cst.Arg | None:
    """The argument `create_graph=True`, as a keyword."""
    for given in origin.arguments if isinstance(origin, ir.Call) else ():
        if given.keyword == "create_graph" and isinstance(given.origin, cst.Arg):
            return given.origin
    return None


def _is_in_sight(hook: Value) -> bool:
    """Whether a hook is a function of the file that keeps nothing on an object: what it is given stays in sight."""
    if not isinstance(hook, Function) or hook.kind:
        return False
    body = hook.definition.body
    nodes = list(ir.walk(body))
    methods = [each.function for each in nodes if isinstance(each, ir.Call) and isinstance(each.function, ir.Attribute)]
    of_names = {id(each) for each in methods if isinstance(each.value, ir.Name)}
    return all(id(each) in of_names for each in nodes if isinstance(each, ir.Attribute))


def _call(origin: ir.Node) -> cst.Call:
    assert isinstance(origin.origin, cst.Call)
    return origin.origin
