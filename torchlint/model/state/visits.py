"""
Arms of conditions that several calls of a function come to, and what torch refuses in each.

Where an arm fails in one call and not in another, nobody knows that the program takes it in the call in which it fails:
it may be there for the other one (`if bound == "l2"`, in a function that is called with "linf" as well). So what torch
would refuse there is no more than possible, unless it does in all these calls, or one decision takes the arm in both:
the same text over the same values.

Calls from one place, as in the iterations of a loop, are not told apart. Neither is a function that is followed by
itself counted: what it is given is not known then, so nothing fails in it but what always does.

Decides about guards and events alone. Of the kinds of events it knows those that are told at each visit anew, and
writes, which are told at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from torchlint.model.events import AutogradRefused, BackwardCalled, Event, InplaceWrite, TensorFacts
from torchlint.model.events.gradients import GradWritten, GraphTensorCopied, GraphTensorToNumpy, NonLeafFlagSet
from torchlint.model.state.guards import Guard, Truth

_KINDS: Final = (
    AutogradRefused,
    BackwardCalled,
    GradWritten,
    GraphTensorCopied,
    GraphTensorToNumpy,
    NonLeafFlagSet,
)
_MOST: Final = 16
"""Visits of an arm that are kept in which nothing was told."""

Visit: TypeAlias = "tuple[int, Guard]"
"""From where the function was called, and what it has decided up to the arm."""
LeafWrite: TypeAlias = "tuple[int, Truth]"
"""The place of a write, and whether torch refuses it for a leaf."""
_Fault: TypeAlias = "tuple[object, ...]"
"""A kind of event, its place, and how it stands with the tensor: of the same backward one root may require grad."""


class Visits:
    """The arms that were come to, by the identity of their statements, and what was told there."""

    __slots__ = ("_arms",)

    def __init__(self) -> None:
        self._arms: dict[int, dict[Visit, dict[_Fault, list[Event]]]] = {}

    def note(self, arm: int, visit: Visit, events: Iterable[Event], writes: Iterable[LeafWrite]) -> None:
        """In an arm these events were told, and these writes made."""
        faults: dict[_Fault, list[Event]] = {(InplaceWrite, *write): [] for write in writes}
        for event in events:
            if isinstance(event, _KINDS):
                faults.setdefault(_fault(event), []).append(event)
        visits = self._arms.setdefault(arm, {})
        if visit in visits:
            for fault, told in faults.items():
                visits[visit].setdefault(fault, []).extend(told)
        elif faults or len(visits) < _MOST:
            visits[visit] = faults

    def settled(self, events: list[Event]) -> list[Event]:
        """The events, without those that nobody knows the program to come to."""
        doubtful: dict[int, Event] = {}  # events are kept in it: another one would get the number of one that is gone
        refused: set[object] = set()  # places of writes: these may do other harm beside being refused, and stay
        for visits in self._arms.values():
            for fault, told in _only_in_some(visits) if len(visits) > 1 else ():
                doubtful.update((id(each), each) for each in told)
                if fault[0] is InplaceWrite and fault[2] is Truth.YES:
                    refused.add(fault[1])
        self._arms.clear()
        if not doubtful and not refused:
            return events
        return [
            replace(each, leaf_raises=Truth.MAYBE)
            if isinstance(each, InplaceWrite) and id(each.node) in refused
            else each
            for each in events
            if id(each) not in doubtful
        ]


def _only_in_some(visits: dict[Visit, dict[_Fault, list[Event]]]) -> Iterator[tuple[_Fault, list[Event]]]:
    """What fails in one visit and not in another, that comes from elsewhere by a decision of its own."""
    for (called_from, decided), faults in visits.items():
        if not faults or not decided:
            continue
        others = [
            found
            for (other, reached), found in visits.items()
            if other != called_from and not (reached and reached <= decided)
        ]
        for fault, told in faults.items():
            if not all(fault in each for each in others):
                yield fault, told


def _fault(event: Event) -> _Fault:
    states: list[object] = [type(event), id(event.node), event.truth]
    for each in vars(event).values():
        if isinstance(each, Truth):
            states.append(each)
        elif isinstance(each, TensorFacts):
            states += (each.requires_grad, each.is_leaf, each.is_parameter)
    return tuple(states)
