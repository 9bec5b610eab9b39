"""
Graphs that are never let go of: one that grows from a backward to the next, and one that is kept after its own.

Only looks; what a graph is known by is the calls that recorded its nodes, which go with the nodes.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from torchlint.sanitizer.calls import Recorded, recorded_by
from torchlint.sanitizer.passes import Pass, walk
from torchlint.sanitizer.places import Line, is_program
from torchlint.verify.nodes import node_of

GROWS = 8
"""So many backwards of one line, each with a larger graph than the one before, are a graph that grows."""
KEPT = 16
"""So many graphs of one line, all alive after their backward, are graphs that are kept."""
FOLLOWED = 64
"""At most so many lines that call backward are followed."""


@dataclass
class Growing:
    """
    What was found.

    Attributes
    ----------
    where
        The last backward.
    first, last
        Nodes of the graph then and now; graphs that are alive, where graphs are kept.
    new, old
        The call that reads a value of an earlier iteration, and the call that made it.
    holder
        The variable that holds the graphs, and the line that runs in its frame.
    """

    where: Pass
    kind: str
    first: int
    last: int
    new: Recorded | None = None
    old: Recorded | None = None
    holder: str = ""


@dataclass
class _Site:
    sizes: list[int] = field(default_factory=list)
    clocks: list[int] = field(default_factory=list)
    alive: list[weakref.ref[Recorded]] = field(default_factory=list)
    told: set[str] = field(default_factory=set)


class Growth:
    """Follows each line that calls backward."""

    def __init__(self) -> None:
        self.sites: dict[tuple[str, int], _Site] = {}
        self.found: list[Growing] = []

    def after(self, current: Pass, roots: Sequence[torch.Tensor], nodes: list[Any]) -> None:
        """A backward has gone through."""
        line = current.place.line
        if line is None or not roots:
            return
        key = (line.code.co_filename, line.line)
        site = self.sites.get(key)
        if site is None:
            if len(self.sites) >= FOLLOWED:
                return
            site = self.sites[key] = _Site()
        made = recorded_by(node_of(roots[0]))
        grown = not site.sizes or len(nodes) > site.sizes[-1]
        site.sizes = [*site.sizes, len(nodes)] if grown else [len(nodes)]
        site.clocks = [*site.clocks, current.clock][-2:]
        if len(site.sizes) >= GROWS and "grows" not in site.told:
            self._grows(site, current, nodes)
        if made is not None:
            site.alive = [each for each in site.alive if each() is not None]
            site.alive.append(weakref.ref(made))
            if len(site.alive) >= KEPT and "kept" not in site.told and "grows" not in site.told:
                self._kept(site, current, roots)
        del site.sizes[:-GROWS]

    def _grows(self, site: _Site, current: Pass, nodes: list[Any]) -> None:
        before = site.clocks[0]
        for node in nodes:
            made = recorded_by(node)
            if made is None or made.clock <= before:
                continue
            for following, _ in node.next_functions:
                old = recorded_by(following) if following is not None else None
                if old is not None and old.clock <= before:
                    site.told.add("grows")
                    self.found.append(Growing(current, "grows", site.sizes[0], site.sizes[-1], made, old))
                    return

    def _kept(self, site: _Site, current: Pass, roots: Sequence[torch.Tensor]) -> None:
        labels = {id(made) for each in site.alive if (made := each()) is not None}
        holder = _holder(sys._getframe(3), labels)
        if not holder:
            return
        site.told.add("kept")
        self.found.append(Growing(current, "kept", 0, len(site.alive), holder=holder))


def _holder(frame: FrameType | None, labels: set[int]) -> str:
    """The variable that holds most of the graphs, in words."""
    while frame is not None:
        if is_program(frame.f_code):
            line = Line(frame.f_code, frame.f_lineno, 0)
            for name, value in [*list(frame.f_locals.items()), *list(frame.f_globals.items())]:
                for words, inner in _containers(name, value):
                    if _holds(inner, labels):
                        return f"`{words}` ({line.path})"
        frame = frame.f_back
    return ""


def _containers(name: str, value: object) -> Iterator[tuple[str, object]]:
    yield name, value
    if isinstance(value, torch.nn.Module) or (hasattr(value, "__dict__") and not isinstance(value, type)):
        if type(value).__name__ == "module":
            return
        for inner, attribute in list(vars(value).items())[:64]:
            yield f"{name}.{inner}", attribute


def _holds(value: object, labels: set[int]) -> bool:
    if isinstance(value, torch.Tensor):
        items: Sequence[object] = (value,)
    elif isinstance(value, (list, tuple)):
        items = value
    elif isinstance(value, Mapping):
        items = [each for item in list(value.values())[:64] for each in (item if isinstance(item, list) else (item,))]
    else:
        return False
    with torch._C.DisableTorchFunction():
        held = [node for item in items if isinstance(item, torch.Tensor) and (node := node_of(item)) is not None]
        found = {id(made) for node in walk(iter(held)) if (made := recorded_by(node)) is not None}
    return len(found & labels) * 2 > len(labels)
