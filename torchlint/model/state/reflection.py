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


def with_reflection(event: AnyEvent, by: str) -> AnyEvent:
    """An event that rests on what has been changed; not so, if it rests on something else already, and for good."""
    if any(each.kind != "grad_mode" for each in event.conditions):
        return event  # whether callers have grad mode on may be found out
    return replace(event, conditions=(*event.conditions, Condition("reflection", by)))
