"""
What happens in a training loop, moment by moment: the log that `training` keeps and `order` reads.

A moment knows when it was (its place in the log, its iterations), on which path, and what it was done to. Nothing
here judges or raises events. What an unknown value is called decides only whether it is an optimizer, a scheduler or
a gradient scaler.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from torchlint.model.state.guards import Guard, conjoin
from torchlint.model.state.values import (
    Bound,
    Choice,
    Constant,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Sequence,
    Super,
    Tensor,
    Unknown,
    Value,
    parts,
    within,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted

Kind: TypeAlias = Literal["backward", "step", "zero", "clip", "unscale", "schedule", "unknown", "written", "read"]

_OPTIMIZER_NAME = re.compile(r"optim|(^|_)opt([_\d]|$)", re.IGNORECASE)
_SCALER_NAME = re.compile(r"^(grad_|loss_|amp_)?scaler$", re.IGNORECASE)
_ZEROING_NAME = re.compile(r"zero|reset|clear|optim|step|update|train", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """One run of a loop's body: which loop, which activation of it, the number (from 0), the path it started on."""

    loop: ir.For | ir.While
    activation: int
    number: int
    path: Guard


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """
    One thing that happened. `iterations` are those that were running, outermost first; `via` is the scaler through
    which it was done; `reach` are the values that unknown code could get at.
    """

    kind: Kind
    time: int
    owner: Value | None
    name: str
    origin: ir.Node
    line: cst.CSTNode
    path: Guard
    assumed: Guard
    iterations: tuple[Iteration, ...]
    function: ir.Node | None
    leaves: tuple[Tensor, ...] = ()
    opaque: bool = True
    via: str = ""
    reach: tuple[Value, ...] = ()

    def within(self, iteration: Iteration, number: int | None = None) -> bool:
        """Whether it happened in the same activation of a loop (in the iteration of that number)."""
        return any(
            each.activation == iteration.activation and (number is None or each.number == number)
            for each in self.iterations
        )

    def possible_with(self, other: Moment) -> bool:
        """Whether one path may come through both."""
        return conjoin(self.path, self.assumed, other.path, other.assumed) is not None


class Log:
    """The moments of an entry point, and what is known of the values in them."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.sources: dict[int, str] = {}
        self.models: list[Value] = []
        self.schedulers: list[tuple[Value, Value]] = []
        self.dropped: set[int] = set()
        self.limiting: set[int] = set()
        """The calls of clipping with a norm that somebody means to be met: who measures one gives infinity."""

    def of(self, *kinds: Kind) -> list[Moment]:
        """The moments of some kinds, in order."""
        return [moment for moment in self.moments if moment.kind in kinds]

    def between(self, first: Moment, last: Moment) -> list[Moment]:
        """The moments strictly between two, on paths that may come through both."""
        return [
            moment
            for moment in self.moments[first.time + 1 : last.time]
            if moment.possible_with(last) and moment.possible_with(first)
        ]

    def zeroes(self, zero: Moment, step: Moment) -> Literal["yes", "maybe", "no"]:
        """Whether a zeroing resets the gradients that a `step` uses."""
        one, other = zero.owner, step.owner
        if one is other and one is not None:
            return "yes"
        if isinstance(one, Optimizer) and isinstance(other, Optimizer):
            same = self.sources.get(id(one), "") == self.sources.get(id(other), "") != ""
            return "maybe" if same or share_parameters(one, other) else "no"
        if isinstance(one, Unknown) and isinstance(other, Unknown):
            themselves = stands_for_itself(one, zero.name) and stands_for_itself(other, step.name)
            apart = zero.name != step.name and themselves and called_optimizer(zero.name)
            return "no" if apart else "maybe"
        return "maybe"

    def feeds(self, backward: Moment, step: Moment) -> Literal["yes", "maybe", "no"]:
        """Whether a backward accumulates into the gradients that a `step` uses."""
        optimizer = step.owner
        if not isinstance(optimizer, Optimizer) or not optimizer.parameters:
            return "maybe"
        if any(leaf is tensor for leaf in backward.leaves for tensor in optimizer.parameters):
            return "yes"
        return "maybe" if backward.opaque or not optimizer.complete or not backward.leaves else "no"

    def may_touch(self, unknown: Moment, step: Moment) -> bool:
        """Whether unknown code may have zeroed, filled or stepped with the gradients that a `step` uses."""
        if unknown.kind == "written":
            return True
        if unknown.kind != "unknown":
            return False
        if "zero" in unknown.name.lower() or unknown.owner is step.owner:
            return True
        if step.owner is not None and any(holds(value, step.owner) for value in unknown.reach):
            return True
        by_name = bool(_ZEROING_NAME.search(last_name(unknown.name)))
        models = [value for value in unknown.reach if any(value is each for each in self.models)]
        return any(by_name or value is not unknown.owner for value in models)


def holds(owner: Value, value: Value, depth: int = 3) -> bool:
    """Whether code that is given `owner` can get at `value` through attributes and containers."""
    return any(each is value for each in within(owner, _held, depth))


def _held(owner: Value) -> list[Value]:
    if type(owner) is Sequence:
        return [*owner.items] if owner.items is not None else []
    if type(owner) is Mapping:
        return [*owner.items.values()] if owner.items is not None else []
    if type(owner) in _WITHOUT_ATTRIBUTES or not isinstance(owner, (Instance, Unknown)):
        return []
    return [*owner.attributes.values()]


_WITHOUT_ATTRIBUTES = frozenset({Tensor, Module, Constant, Function, External, Choice})
"""Most of what objects hold; asked by its class, of which there is none derived."""


def leads_to(value: Value, instance: Instance) -> bool:
    """
    Whether code that is given a value gets at an object: it, what holds it, a method of it, `super()` of it, a function
    that uses it.
    """
    return any(each is instance for each in within(value, _led_to, _FAR))


_FAR = 6
"""Steps from what code is given: through a list, a choice, a partial, a method, to what holds the object."""


def _led_to(value: Value) -> list[Value]:
    if isinstance(value, Bound):
        return [value.receiver]
    if isinstance(value, Super):
        return [value.instance]
    if isinstance(value, Choice):
        return parts(value)
    if isinstance(value, Partial):
        return [value.function, *value.given, *value.named.values()]
    if isinstance(value, Function):
        return _used_by(value)
    if isinstance(value, (Sequence, Mapping)):
        return parts(value)
    if isinstance(value, Unknown):
        return [*_held(value), *([value.part_of] if value.part_of is not None else ()), *value.may_be]
    return _held(value)


def _used_by(function: Function) -> list[Value]:
    """What a function has of the functions around it, and its defaults; not what is the file's own."""
    found = [*function.defaults.values()]
    frame: Frame | None = function.closure
    names: set[str] | None = None
    while frame is not None and frame.enclosing is not None:
        if names is None:
            names = {each.id for each in ir.walk(function.definition.body) if isinstance(each, ir.Name)}
        found += [held for name, held in frame.variables.items() if name in names]
        frame = frame.enclosing
    return found


def share_parameters(one: Optimizer, other: Optimizer) -> bool:
    """Whether two optimizers are known to hold a tensor in common."""
    return any(tensor is each for tensor in one.parameters for each in other.parameters)


def stands_for_itself(value: Unknown, text: str) -> bool:
    """Whether a name is the value's own: a parameter of the function, or an attribute; not an element of something."""
    if isinstance(value.source, ir.Parameter):
        return value.source.name == text
    return isinstance(value.source, ir.Attribute) and value.source.attr == last_name(text)


def receiver_of(origin: ir.Node) -> str:
    """What a method is called on: `self.opt` in `self.opt.step()`."""
    if isinstance(origin, ir.Call) and isinstance(origin.function, ir.Attribute):
        return dotted(origin.function.value)
    return ""


def last_name(text: str) -> str:
    """`opt` of `self.opt`."""
    return text.rpartition(".")[2]


def called_optimizer(text: str) -> bool:
    """Whether a name says that it is an optimizer."""
    return bool(_OPTIMIZER_NAME.search(last_name(text))) and not called_scheduler(text)


def called_scheduler(text: str) -> bool:
    """Whether a name says that it is a learning-rate scheduler."""
    return "sched" in last_name(text).lower()


def called_scaler(text: str) -> bool:
    """Whether a name says that it is a gradient scaler."""
    return bool(_SCALER_NAME.search(last_name(text)))


def is_optimizer(value: Value | None, text: str) -> bool:
    """Whether a value is an optimizer: one of torch, or an unknown one that is called so."""
    return isinstance(value, Optimizer) or (isinstance(value, Unknown) and called_optimizer(text))


def scaled_by(origin: ir.Node) -> str:
    """The scaler in `scaler.scale(loss).backward()`, else ""."""
    if isinstance(origin, ir.Call) and isinstance(origin.function, ir.Attribute):
        root = origin.function.value
        if isinstance(root, ir.Call) and isinstance(root.function, ir.Attribute) and root.function.attr == "scale":
            return dotted(root.function.value)
    return ""
