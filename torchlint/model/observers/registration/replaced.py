"""
Modules that are assigned to an attribute after an optimizer took the parameters of what was there, or of its owner.

Asked and told by `optimizing`; watches nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchlint.model.events.registration import OptimizerMisses
from torchlint.model.events.trace import Step
from torchlint.model.observers.moments import holds
from torchlint.model.python.attributes import is_module
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Instance, Module, Optimizer, Tensor, Unknown, Value, alternatives, explore
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted


@dataclass(slots=True, eq=False)
class _Taken:
    """An optimizer and the module whose parameters it has taken."""

    optimizer: Optimizer
    module: Value
    name: str
    path: Guard
    origin: ir.Call
    time: int


@dataclass(slots=True, eq=False)
class _Replaced:
    """A module assigned to an attribute after an optimizer took the parameters."""

    taken: _Taken
    owner: Value
    name: str
    value: Value
    attribute: str
    node: cst.CSTNode
    line: cst.CSTNode
    path: Guard
    stepped: bool = False


class Replacements:
    """The optimizers of an entry point that took a module's parameters, and what was assigned since."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._taken: list[_Taken] = []
        self._replaced: list[_Replaced] = []

    def taken(self, optimizer: Optimizer, module: Value, name: str, origin: ir.Call) -> None:
        """An optimizer was built over all parameters of a module."""
        self._taken.append(_Taken(optimizer, module, name, self._machine.path, origin, self._machine.clock))

    def optimizers(self) -> list[Optimizer]:
        """Those that took a module's parameters."""
        return [each.optimizer for each in self._taken]

    def optimizer_built(self, module: Value | None) -> None:
        """Another optimizer was built, over the parameters of a module (None: nobody knows whose)."""
        self._replaced = [each for each in self._replaced if not _renews(each, module)]

    def assigned(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        """`owner.name = value`."""
        self._replaced = [each for each in self._replaced if each.owner is not owner or each.name != name]
        if not isinstance(node.origin, cst.BaseExpression):
            return
        machine = self._machine
        for taken in self._taken:
            if not holds(taken.module, owner) or not taken.path <= machine.path:
                continue
            if not _brings_parameters(value, taken):
                continue
            path, line = machine.guard, machine.line()
            self._replaced.append(_Replaced(taken, owner, name, value, dotted(node), node.origin, line, path))

    def changed(self, optimizer: Value) -> None:
        """An optimizer may have been given more parameters."""
        self._replaced = [each for each in self._replaced if each.taken.optimizer is not optimizer]

    def stepped(self, values: Sequence[Value]) -> None:
        """A method `step` ran on these: an optimizer, or what steps one that it is given."""
        for each in self._replaced:
            if any(each.taken.optimizer is value for value in values):
                each.stepped = each.stepped or each.path <= self._machine.path

    def conclude(self) -> None:
        """An entry point is over: report what an optimizer misses that went on stepping."""
        for each in self._replaced:
            if each.stepped:
                self._machine.emit(
                    OptimizerMisses(
                        node=each.node,
                        statement=each.line,
                        trace=(Step(each.taken.origin.origin, "the optimizer takes the parameters here"),),
                        why="replaced",
                        optimizer=each.taken.optimizer.name or each.taken.name,
                        name=each.attribute,
                    )
                )


def _renews(replaced: _Replaced, module: Value | None) -> bool:
    """Whether an optimizer over a module's parameters takes what was assigned, too."""
    if module is None:
        return True
    return holds(module, replaced.value) or module is replaced.taken.module or isinstance(module, Unknown)


def _brings_parameters(value: Value, taken: _Taken) -> bool:
    """Whether a value surely has a parameter that requires grad, and that the optimizer has not taken."""
    options = [each for _, each in alternatives(value)]
    return bool(options) and all(_has_parameters(each, taken) for each in options)


def _has_parameters(value: Value, taken: _Taken) -> bool:
    return any(
        isinstance(each, Tensor)
        and each.is_parameter is Truth.YES
        and each.own.truth() is Truth.YES
        and not any(each is other for other in taken.optimizer.parameters)
        and (taken.optimizer.complete or each.born > taken.time)  # an older one may be among those nobody knows
        for each in explore(value, _registered)
    )


def _registered(value: Value) -> list[Value]:
    if isinstance(value, Module):
        return [*value.parameters.values(), *(value.children or ())]
    if isinstance(value, Instance) and is_module(value) is Truth.YES:
        return list(value.attributes.values())
    return []
