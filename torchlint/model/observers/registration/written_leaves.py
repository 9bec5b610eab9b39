"""
Sees what a layer has computed with a graph and is written into a parameter: `p.data = t`, `p.copy_(t)` without
recording.

A leaf begins a graph, so what computed the value gets no gradient through it. A moving average, a first value and a
code that is optimised are written like that on purpose. So it counts only where a backward then reaches the parameter
and none of the leaves that the value was computed from, and where nothing else trains the parameter. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from torchlint.knowledge.names import VECTOR_TO_PARAMETERS
from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import GraphRestarted
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import PendingEvents, argument, derived, expression, only
from torchlint.model.python.module_parts import tensors_of
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Function,
    GraphNode,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DATA_SET, anywhere

_MOST_NODES = 200
_OF_LAYERS = frozenset({"linear", "bilinear", "conv1d", "conv2d", "conv3d", "embedding"})
"""What is given data: arithmetic of parameters alone gives a first value, or an average."""


@dataclass(slots=True, eq=False)
class _Written:
    """A leaf was given a value that has a graph, computed from `sources`."""

    leaf: Tensor
    sources: list[Tensor]
    origin: ir.Node
    source: cst.BaseExpression
    line: cst.CSTNode
    path: Guard
    assumed: Guard
    time: int
    spoilt: bool = False


class WrittenLeaves(Observer):
    """Raises `GraphRestarted`."""

    words = (".data", "copy_", "load_state_dict", "Parameter", "vector_to_parameters")
    concerns = (anywhere(f"{DATA_SET} copy_ load_state_dict Parameter vector_to_parameters"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine, attested=True)
        self._written: list[_Written] = []
        self._trained: set[int] = set()
        """Leaves whose gradient is used: an optimizer holds them, or the program reads it."""
        self._given: list[list[Value]] = []
        """What unknown code was given before anything was written: it is looked into when something is."""
        self._open = False
        """An optimizer may hold any leaf."""
        self._forwards = 0

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._written.clear()
        self._trained.clear()
        self._given.clear()
        self._open = False
        self._forwards = 0

    def concluded(self) -> None:
        self.pending.flush()
        self._written.clear()
        self._given.clear()

    # -- what is trained

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        self._trained |= {id(each) for each in optimizer.parameters}
        self._open = self._open or not optimizer.complete

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name == "grad":
            self._trained |= {id(each) for each in reachable_tensors(owner)}

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        self._given.append(arguments)
        if self._written:
            self._look_into_given()

    def _look_into_given(self) -> None:
        """Unknown code may train whatever it is given."""
        for value in (each for arguments in self._given for each in arguments):
            tensors = tensors_of(value) if isinstance(value, (Instance, Module)) else reachable_tensors(value)
            self._trained |= {id(each) for each in tensors}
        self._given.clear()

    # -- what is written

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        leaf = only(owner, self.machine)
        if name == "data" and isinstance(leaf, Tensor):
            assigned = self.machine.statement
            written = assigned.value if isinstance(assigned, ir.Assign) else None
            self._note(leaf, value, written, node)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        written = argument(origin, 0, "src", "state_dict")
        if not positional or written is None:
            return
        if name == "load_state_dict" and isinstance(receiver, Module) and isinstance(positional[0], Mapping):
            for key, value in (positional[0].items or {}).items():
                leaf = receiver.parameters.get(key) if isinstance(key, str) else None
                if isinstance(leaf, Tensor):
                    self._note(leaf, value, written.value, origin)
        if name == "copy_" and isinstance(receiver, Tensor):
            alias = receiver.alias
            if self.machine.grad_mode is Truth.NO:
                self._note(receiver, positional[0], written.value, origin)
            elif alias is not None and alias.how == ".data" and not alias.bound:
                self._note(alias.source, positional[0], written.value, origin)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        """
        A Parameter made of a graph tensor (in `forward` and in loops that is told of already: `leaves`); a vector that
        is cut into parameters.
        """
        if qualified in VECTOR_TO_PARAMETERS:
            written = argument(origin, 0, "vec")
            held = positional[1] if len(positional) == 2 else None
            if written is not None and isinstance(held, Sequence) and held.items is not None:
                for leaf in held.items:
                    if isinstance(leaf, Tensor):
                        self._note(leaf, positional[0], written.value, origin)
            return
        written = argument(origin, 0, "data")
        if qualified != "torch.nn.Parameter" or not positional or written is None or self.machine.iteration:
            return
        if isinstance(result, Tensor) and self._forwards == 0:
            self._note(result, positional[0], written.value, origin)

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._forwards += function.name == "forward"

    def function_ended(self, function: Function, result: Value) -> None:
        self._forwards -= function.name == "forward"

    def _note(self, leaf: Tensor, given: Value, written: ir.Expression | None, origin: ir.Node) -> None:
        value = only(given, self.machine)
        source = expression(written) if written is not None else None
        if not isinstance(value, Tensor) or not derived(value) or source is None:
            return
        if self.machine.foreign_call is not None:
            return
        if leaf.grad_fn or leaf.base is not None or leaf.requires_grad.truth() is not Truth.YES:
            return
        if leaf.is_parameter is not Truth.YES:
            return
        sources = _leaves(value)
        if sources and not any(each is leaf for each in sources):
            machine = self.machine
            self._look_into_given()
            self._written = [each for each in self._written if each.leaf is not leaf]
            self._written.append(
                _Written(leaf, sources, origin, source, machine.line(), machine.path, machine.assumed, machine.clock)
            )

    # -- what is reached

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
        reached = {id(each) for each in leaves}
        for each in self._written:
            if any(id(source) in reached for source in each.sources):
                each.spoilt = True  # it learns in another way
            if id(each.leaf) not in reached or not each.path <= self.machine.path:
                continue
            if any(node.opaque or node.time < each.time for node in nodes) or inputs is not None:
                continue
            event = GraphRestarted(
                node=each.origin.origin,
                statement=each.line,
                trace=(Step(origin.origin, "the backward reaches the leaf, and nothing behind it"),),
                how="written",
                leaf=self.machine.facts(each.leaf),
                source_node=each.source,
            )
            self.pending.add(event, each.assumed - each.path, valid=partial(self._counts, each))

    def _counts(self, written: _Written) -> bool:
        return not written.spoilt and not self._open and id(written.leaf) not in self._trained


def _leaves(tensor: Tensor) -> list[Tensor]:
    """The leaves that a layer has computed a value from; none where not all of them are known."""
    layer = False
    found: list[Tensor] = []
    pending = [node for _, node in tensor.grad_fn]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_NODES:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.opaque:
            return []
        layer = layer or node.op in _OF_LAYERS
        for _, edge in node.edges:
            if isinstance(edge, Tensor):
                found.append(edge)
            else:
                pending.append(edge)
    return found if layer else []
