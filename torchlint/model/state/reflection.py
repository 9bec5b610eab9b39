"""
Reflection: a program changes Python's own rules while it runs, by what nobody knows.

Every proof rests on what an attribute is, which method a call runs and which variable a name stands for. A program that
changes these rules (a `__getattribute__`, a class that gets a method under a name nobody knows, the variables of a
module handed out, a text that is run) and has code in it that nobody knows may have changed any link of any proof from
then on, in more ways than can be listed. So has a program in which such code acts where no plain call of it is written
(`model/python/indirection`). So from then on what is told of the program rests on a condition: nothing of
it is an error. What is told before stays, but for what is told at the end.

Holds what it was; what changes Python's rules is told by `model/python`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from torchlint.condition import Condition
from torchlint.model.events import Event

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

AnyEvent = TypeVar("AnyEvent", bound=Event)


def note_reflection(machine: Machine, by: str) -> None:
    """
    From now on Python's rules are those that nobody knows, to the end of the entry point, and on all paths: what is
    told at its end may be of any. `by`: what has changed them, as a message may show it; the first is named.
    """
    machine.reflection = machine.reflection or by


def note_unseen_class(machine: Machine, by: str) -> None:
    """
    From now on, to the end of the entry point, what is told may rest on methods or objects of a class that a decorator,
    or a base, of elsewhere may have changed. `by`: which, as a message may show it; the first is named. That is less
    than reflection: no other rule of Python's is another, and it is told of what would be an error alone.
    """
    machine.unseen_class = machine.unseen_class or by


def noted_by(machine: Machine) -> tuple[str, str]:
    """What has been noted so far, for `put_back`."""
    return machine.reflection, machine.unseen_class


def put_back(machine: Machine, noted: tuple[str, str]) -> None:
    """What an entry point has noted ends with it."""
    machine.reflection, machine.unseen_class = noted


def resting(event: AnyEvent, reflection: str, unseen_class: str) -> AnyEvent:
    """
    An event that rests on what has been changed, or on a class; not on the first, if it rests on something else
    already, and for good.
    """
    if unseen_class and not event.unseen_class:
        event = replace(event, unseen_class=unseen_class)
    # whether callers have grad mode on may be found out
    if reflection and all(each.kind == "grad_mode" for each in event.conditions):
        return replace(event, conditions=(*event.conditions, Condition("reflection", reflection)))
    return event
