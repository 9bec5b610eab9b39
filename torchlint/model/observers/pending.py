"""
Events that wait until a run is over, because only then it is known whether they hold. No observer itself.

A fact seen under several assumptions about what a variable holds is certain if the assumptions leave no way around;
and a function analysed by itself may be called under `no_grad`, unless it runs a backward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.model.events import Event
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin, covered
from torchlint.model.state.values import Choice, Constant, GraphNode, Tensor, Value, alternatives
from torchlint.syntax import cst, ir

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine


class PendingEvents:
    """
    Events of one run. `attested`: they happen only if the caller leaves grad mode on, which a script and a function
    that runs a backward show.
    """

    def __init__(self, machine: Machine, *, attested: bool = False) -> None:
        self.machine = machine
        self.attested = attested
        self.script = False
        self.backwards: list[Guard] = []
        self.waiting: list[tuple[Guard, Guard, Event, Callable[[], bool] | None]] = []

    def start(self, script: bool) -> None:
        """A run starts."""
        self.script = script
        self.backwards.clear()
        self.waiting.clear()

    def ran_backward(self) -> None:
        """A backward ran here."""
        self.backwards.append(self.machine.path)

    def add(self, event: Event, *seen: Guard, valid: Callable[[], bool] | None = None) -> None:
        """
        Keep an event of this moment; `seen` are the guards of earlier moments it rests on, each already less its path.
        `valid` is asked at the end.
        """
        if self.machine.expected_errors:
            return
        need: Guard = self.machine.assumed - self.machine.path
        for guard in seen:
            need = need | (guard - self.machine.path)
        self.waiting.append((need, self.machine.path, event, valid))

    def flush(self, emit: Callable[[Event], object] | None = None) -> None:
        """The run is over: raise those that are certain, one for each place; or give them to `emit`."""
        if self.waiting:  # most runs have nothing to say
            self._tell(self.machine.emit if emit is None else emit)
            self.waiting.clear()
        self.backwards.clear()
        self.script = False

    def _tell(self, tell: Callable[[Event], object]) -> None:
        by_node: dict[int, list[tuple[Guard, Event]]] = {}
        for need, path, event, valid in self.waiting:
            if valid is not None and not valid():
                continue
            if self.attested and not self.script and all(conjoin(path, other) is None for other in self.backwards):
                continue
            by_node.setdefault(id(event.node), []).append((need, event))
        for found in by_node.values():
            sure = [event for need, event in found if not need]
            if not sure and covered([need for need, _ in found], ALWAYS):
                sure = [found[0][1]]
            if sure:
                tell(replace(sure[0], truth=Truth.YES))


def derived(tensor: Tensor) -> bool:
    """Whether a tensor is certainly the result of a recorded operation: it requires grad and is no leaf."""
    return (
        tensor.requires_grad.truth() is Truth.YES
        and tensor.is_leaf is Truth.NO
        and not any(node.opaque for _, node in tensor.grad_fn)
    )


def only(value: Value, machine: Machine) -> Value | None:
    """The value, if it can be but one here."""
    if type(value) is not Choice:
        return value
    options = alternatives(value, machine.guard)
    return options[0][1] if len(options) == 1 else None


def is_true(value: Value | None) -> bool:
    """Whether it is the constant True."""
    return isinstance(value, Constant) and value.value is True


def expression(node: ir.Node) -> cst.BaseExpression | None:
    """The CST expression of an IR node, if it is one."""
    return node.origin if isinstance(node.origin, cst.BaseExpression) else None


def argument(call: ir.Call, position: int, *keywords: str) -> ir.Argument | None:
    """The argument written at a position, or under one of the keywords; None after an unpacking."""
    for given in call.arguments:
        if given.keyword in keywords:
            return given
    before = call.arguments[: position + 1]
    if len(before) <= position or any(given.star or given.keyword for given in before):
        return None
    return before[position]


def leaves_used(nodes: list[GraphNode]) -> dict[int, list[GraphNode]]:
    """The nodes that use a leaf directly, by the leaf's identity."""
    found: dict[int, list[GraphNode]] = {}
    for node in nodes:
        for _, target in node.edges:
            if isinstance(target, Tensor):
                found.setdefault(id(target), []).append(node)
    return found
