"""
One place in a file, several runs: what the entry points say of the same node becomes one event.

A helper is run by itself and wherever it is called. Of a write, a finding of one run outweighs "nobody knows" of
another; of a retained graph, one run that cannot tell outweighs one that sees no reader. A leaf that was lost explains
why its gradient is None, and is told alone. Works on events alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from torchlint.model.events import Event, GraphRetained, InplaceWrite, RetainedUse, SavedTensorRead
from torchlint.model.events.gradients import NonLeafGradRead
from torchlint.model.events.registration import LeafLost
from torchlint.model.state.guards import Truth

_USES: tuple[RetainedUse, ...] = (
    *("broken", "carried", "apart", "turns", "stepped"),
    *("shared", "again", "repeated", "unknown", "unread"),
)


def merged(events: Iterable[Event]) -> list[Event]:
    """The events with those of one kind and one place made one, in the order of their first."""
    result: list[Event] = []
    writes: dict[int, int] = {}
    retained: dict[int, int] = {}
    broken = set()
    rebound = set()
    for event in events:
        if isinstance(event, SavedTensorRead) and event.truth is Truth.YES:
            broken.add(id(event.node))
        if isinstance(event, LeafLost) and event.how == "rebound" and event.truth is Truth.YES:
            rebound.add(id(event.statement))
        if isinstance(event, InplaceWrite):
            _merge_into(result, writes, event, _both_writes)
        elif isinstance(event, GraphRetained):
            _merge_into(result, retained, event, _both_retained)
        else:
            result.append(event)
    return [
        replace(event, broken=Truth.YES) if isinstance(event, InplaceWrite) and id(event.node) in broken else event
        for event in result
        if not (isinstance(event, NonLeafGradRead) and {id(event.statement), id(event.made_statement)} & rebound)
    ]


def _merge_into(result: list[Event], known: dict[int, int], event: Event, both: object) -> None:
    assert callable(both)
    index = known.setdefault(id(event.node), len(result))
    if index == len(result):
        result.append(event)
    else:
        result[index] = both(result[index], event)


def _both_writes(one: InplaceWrite, other: InplaceWrite) -> InplaceWrite:
    worse = other if _weight(other) > _weight(one) else one
    raising = [each for each in (one, other) if each.leaf_raises is Truth.YES] or [replace(worse, conditions=())]
    surest = min(raising, key=lambda each: (len(each.conditions), bool(each.unseen_class)))
    return replace(
        worse,
        conditions=surest.conditions,
        unseen_class=surest.unseen_class,
        leaf_raises=one.leaf_raises | other.leaf_raises,
        in_graph=one.in_graph | other.in_graph,
        old_value_in_graph=one.old_value_in_graph | other.old_value_in_graph,
        old_value_needed=one.old_value_needed | other.old_value_needed,
        value_in_graph=one.value_in_graph | other.value_in_graph,
        broken=one.broken | other.broken,
        filled=one.filled and other.filled,
        handed=one.handed or other.handed,
    )


def _weight(event: InplaceWrite) -> tuple[int, int, int]:
    return event.leaf_raises.value, event.in_graph.value, len(event.saved_by)


def _both_retained(one: GraphRetained, other: GraphRetained) -> GraphRetained:
    return one if _USES.index(one.use) <= _USES.index(other.use) else other
