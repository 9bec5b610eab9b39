"""
Networks that are given (arguments, attributes set from arguments): an optimizer steps between one of their calls and
the backward through it, two backwards go through one call, or a call is given what the call of the iteration before has
returned, and each iteration runs a backward.

What nobody knows of such a network is how many layers it has, and whether they are frozen. That an optimizer is built
over its `parameters()` shows that it is a Module; that a backward through one of its calls came back, that its
parameters have gradients; so the step writes what its other calls have saved, and the backward has freed what that call
has saved. The way from a call to the root of a backward is followed through functions of torch, other networks and
criteria alone. Does not judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.knowledge.ops import find as ops
from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import GivenNetworkFreed
from torchlint.model.events.trace import Step
from torchlint.model.events.writes import GivenNetworkStepped
from torchlint.model.observers.pending import PendingEvents
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Function,
    GraphNode,
    Instance,
    Module,
    Optimizer,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import ir
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.spelling import dotted

_CRITERION = re.compile(r"loss|crit|bce|mse|objective", re.IGNORECASE)
_MOST_STEPS = 60
"""Values that are looked at on the way back from a root."""


@dataclass(slots=True, eq=False)
class _Call:
    """
    A network, a criterion, an operation or code that nobody knows was called; `network` is None but for the first, and
    of the last no arguments are kept.
    """

    network: Unknown | None
    name: str
    arguments: tuple[Value, ...]
    origin: ir.Node
    time: int
    path: Guard
    iteration: tuple[int, ...]
    freed: tuple[ir.Node, Guard] | None = None
    """The backward that has gone through it and freed its graph, and its path: another one is refused for that."""
    given: bool = False
    """It is a network, or code that may be one."""
    before: _Call | None = None
    """The call at the same place, in an earlier iteration, of whose results it is given one."""
    carried: str = ""
    """How the program calls that."""

    def earlier(self) -> Iterator[_Call]:
        """Itself, and the calls whose results came down to it."""
        call: _Call | None = self
        for _ in range(_MOST_STEPS):
            if call is None:
                break
            yield call
            call = call.before


@dataclass(slots=True, eq=False)
class _Stepped:
    """An optimizer stepped over a network that had gradients."""

    network: Unknown
    origin: ir.Call
    time: int
    path: Guard


class GivenNetworks(Observer):
    """Raises `GivenNetworkStepped`, `GivenNetworkFreed`."""

    words = (".parameters", ".backward")
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine, attested=True)
        self._networks: dict[int, tuple[Optimizer, Unknown]] = {}
        self._listed: list[tuple[Value, Unknown]] = []
        self._calls: dict[int, _Call] = {}
        self._any_given = False
        """Whether one of the calls was of a network, or of code that may be one: most scripts build their own."""
        self._fed: list[tuple[Unknown, Guard]] = []
        self._steps: list[_Stepped] = []
        self._count = 0

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._calls.clear()
        self._any_given = False
        self._fed.clear()
        self._steps.clear()

    def concluded(self) -> None:
        self.pending.flush()
        self.entry_started(None)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if not isinstance(receiver, (Unknown, Tensor)):
            return
        if name == "parameters" and isinstance(receiver, Unknown) and isinstance(result, Sequence):
            self._listed.append((result, receiver))
        elif ops.passes_gradient_back(f"torch.Tensor.{name}"):
            self._note(None, name, (receiver, *positional), origin)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if (
            qualified.startswith("torch.")
            and isinstance(result, (Unknown, Tensor))
            and ops.passes_gradient_back(qualified)
        ):
            self._note(None, qualified, tuple(positional), origin)

    def binary(self, op: str, left: Value, right: Value, result: Value, origin: ir.Binary) -> None:
        if op in ("+", "-", "*", "/"):
            self._note(None, op, (left, right), origin)

    def unary(self, op: str, operand: Value, result: Value, origin: ir.Unary) -> None:
        if op == "-":
            self._note(None, op, (operand,), origin)

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if isinstance(module, Module):
            self._note(None, module.kind.name, tuple(arguments), origin)

    def _note(self, network: Unknown | None, name: str, arguments: tuple[Value, ...], origin: ir.Node) -> _Call | None:
        if self.machine.grad_mode is not Truth.YES:
            self._calls.pop(id(origin), None)
            return None
        known = self._calls.get(id(origin))
        if known is not None and known.iteration == self.machine.iteration:
            network, arguments = None, ()  # in a helper: which of its calls a value is from is not known
        self._count += 1
        made = _Call(network, name, arguments, origin, self._count, self.machine.path, self.machine.iteration)
        self._calls[id(origin)] = made
        return made

    def _note_given(self, network: Unknown | None, name: str, arguments: list[Value], origin: ir.Call) -> None:
        """
        A call of a network, or of code that may be one: is it given what its last call has returned? Code that is given
        nothing else may well be there to detach it.
        """
        # what another file computes has all come from the one call of it
        asked = self.machine.foreign_call is None and (network is not None or len(arguments) > 1)
        last = self._calls.get(id(origin)) if asked else None
        carried = _carried(origin, arguments) if last is not None else None
        made = self._note(network, name, tuple(arguments) if network is not None else (), origin)
        if made is None:
            return
        made.given = self._any_given = True
        if carried is not None and "detach_" in self.machine.program.text and self._is_detached_in_place(carried):
            return
        if last is not None and carried is not None and made.iteration != last.iteration:
            made.before = last
            made.carried = carried

    def _is_detached_in_place(self, name: str) -> bool:
        """Whether the running function calls `detach_` on what has a name, on a part of it, or on each part."""
        definition = self.machine.stack[-1].definition if self.machine.stack else None
        body = definition.body if isinstance(definition, ir.FunctionDef) else self.machine.program.body
        names = {name}
        for each in ir.walk(body):
            if isinstance(each, (ir.For, ir.Generator)) and name in map(_named, ir.walk(each.iterable)):
                names.add(_named(each.target))
        calls = (each.function for each in ir.walk(body) if isinstance(each, ir.Call))
        return any(
            isinstance(each, ir.Attribute) and each.attr == "detach_" and _named(each.value) in names for each in calls
        )

    def zeroed(self, owner: Value, origin: ir.Node) -> None:
        known = self._networks.get(id(owner))
        network = known[1] if known is not None else owner
        self._fed = [each for each in self._fed if each[0] is not network]

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        network = next((each for listed, each in self._listed if listed is parameters), None)
        if network is not None:
            self._networks[id(optimizer)] = (optimizer, network)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        name = dotted(origin.function)
        if not isinstance(callee, Unknown) or receiver is not None or not name:
            return
        if self._is_network(callee):
            self._note_given(callee, name, arguments, origin)
        elif _CRITERION.search(name.rpartition(".")[2]):
            self._note(None, name, tuple(arguments), origin)
        else:
            self._note_given(None, name, arguments, origin)

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        known = self._networks.get(id(optimizer))
        if known is None:
            return
        path = self.machine.path
        if any(network is known[1] and fed <= path for network, fed in self._fed):
            self._count += 1
            self._steps.append(_Stepped(known[1], origin, self._count, path))

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
        if callee == "autograd.grad" or inputs is not None:
            return
        given = self._behind(root) if self._any_given else []
        calls = [call for call in given if call.network is not None]
        path = self.machine.path
        again = [call for call in calls if call.network is not None and call.freed and call.freed[1] <= path]
        if again:
            # the last that was called: a backward comes to it first
            self._tell_freed(max(again, key=lambda call: call.time), root, origin)
        for call in given if not again else ():
            if call.before and any(each.freed and each.freed[1] <= path for each in call.before.earlier()):
                self._tell_carried(call, root, origin)
                break
        for call in calls if not any(each.freed for each in calls) else ():
            for step in self._steps:
                if step.network is call.network and call.time < step.time and call.path <= path and step.path <= path:
                    self._tell(call, step, origin)
                    break
        for call in given:
            for each in call.earlier():
                each.freed = None if _retains(origin) else (origin, path)
        self._count += 1
        self._fed += [(call.network, path) for call in calls if call.network is not None]

    def _tell(self, call: _Call, step: _Stepped, origin: ir.Node) -> None:
        forward = Step(call.origin.origin, f"`{call.name}` saves its weights here")
        backward = Step(origin.origin, "this backward goes through that call")
        event = GivenNetworkStepped(
            node=step.origin.origin,
            statement=self.machine.line(),
            trace=(forward, backward),
            network=call.name,
        )
        self.pending.add(event)

    def _tell_freed(self, call: _Call, root: Tensor, origin: ir.Node) -> None:
        assert call.freed is not None
        first = call.freed[0]
        forward = Step(call.origin.origin, f"`{call.name}` is called here")
        event = GivenNetworkFreed(
            node=origin.origin,
            statement=self.machine.line(),
            trace=(forward, Step(first.origin, "this backward frees the graph of that call"))
            if first is not origin
            else (forward,),
            network=call.name,
            root=self.machine.facts(root),
            carried="",
        )
        self.pending.add(event)

    def _tell_carried(self, call: _Call, root: Tensor, origin: ir.Node) -> None:
        event = GivenNetworkFreed(
            node=origin.origin,
            statement=self.machine.line(),
            trace=(Step(call.origin.origin, f"`{call.name}` is given what its last call has returned"),),
            network=call.name,
            root=self.machine.facts(root),
            carried=call.carried,
        )
        self.pending.add(event)

    def _is_network(self, value: Value) -> bool:
        return any(network is value for _, network in self._networks.values())

    def _behind(self, root: Value) -> list[_Call]:
        """The calls of networks that a root was surely computed from."""
        found: list[_Call] = []
        pending: list[Value] = [root]
        seen: set[int] = set()
        while pending and len(seen) < _MOST_STEPS:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            origin: ir.Node | None = None
            if isinstance(value, Unknown):
                origin = value.source
            elif isinstance(value, Tensor):
                if value.cut or value.requires_grad.truth() is Truth.NO:
                    continue
                origin = value.origin
                pending += value.inputs
            elif isinstance(value, Sequence):
                pending += value.items or ()
                continue
            else:
                options = [each for _, each in alternatives(value, self.machine.guard)]
                pending += options if len(options) == 1 and options[0] is not value else ()
                continue
            call = self._calls.get(id(origin)) if origin is not None else None
            if call is not None:
                pending += call.arguments
                if call.given:
                    found.append(call)
        return found


def _named(node: ir.Node) -> str:
    """How a name, or a chain of attributes, is written that a node is or is a part of; nothing if it is neither."""
    while isinstance(node, ir.Subscript):
        node = node.value
    return dotted(node) if isinstance(node, (ir.Name, ir.Attribute)) else ""


def _retains(origin: ir.Node) -> bool:
    """Whether a backward is told anything that may keep its graph."""
    given = origin.arguments if isinstance(origin, ir.Call) else []
    return any(each.star or each.keyword in ("retain_graph", "create_graph") or not each.keyword for each in given)


def _carried(origin: ir.Call, arguments: list[Value]) -> str | None:
    """How the first argument is written that a call at the same place has returned, alone or in a tuple."""
    written = [each.value for each in origin.arguments]
    for place, value in enumerate(arguments):
        held = value.items or () if isinstance(value, Sequence) else (value,)
        for inner, each in enumerate(held):
            made = each.source if isinstance(each, Unknown) else each.origin if isinstance(each, Tensor) else None
            if made is not origin or (isinstance(each, Tensor) and each.cut):
                continue
            shown = written[place] if len(written) == len(arguments) else None
            if isinstance(shown, ir.Sequence) and len(shown.elements) == len(held):
                shown = shown.elements[inner]
            return (dotted(shown) if shown is not None else "") or f"{dotted(origin.function)}(...)"
    return None
