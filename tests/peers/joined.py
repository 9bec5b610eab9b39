"""
Findings of several tools, joined where they speak of one thing: the same file, line and kind.

Runs no tool and reads no file. A code that `KINDS` does not name has no kind and is left out: what a tool says of
Python itself is nothing to compare.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = {
    "api": ("TOR001", "TOR004", "TOR101", "TOR103", "TOR202", "TLN901", "TLN902"),
    "argument": ("TOR003", "TOR201", "TLN903"),
    "private name": ("TOR104", "TOR105", "TLN906"),
    "load": ("TOR102", "S614", "TLN904", "TLN905"),
    "numerics": ("TOR106", "TOR107", "TOR108", "TLN605"),
    "misspelt attribute": ("TOR002", "TLN310"),
    "loader": ("TOR401",),
    "torchvision": ("TOR203",),
    "seeds": ("NPY002", "TLN808"),
    "exact comparison": ("RUF069", "TLN603"),
    "target": ("TLN907", "TLN908"),
}
KIND_OF = {code: kind for kind, codes in KINDS.items() for code in codes}


@dataclass(frozen=True, order=True)
class Said:
    """
    One finding of one tool.

    Attributes
    ----------
    path
        Relative to the folder that was looked at, with forward slashes: tools write it in several ways.
    """

    path: str
    line: int
    tool: str
    code: str
    message: str

    @property
    def kind(self) -> str | None:
        """What it is about; None if that is nothing to compare."""
        return KIND_OF.get(self.code)


@dataclass(frozen=True)
class Place:
    """A line of a file, one kind, and what each tool that speaks of it says."""

    path: str
    line: int
    kind: str
    said: tuple[Said, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        """Who speaks, each once, by name."""
        return tuple(sorted({each.tool for each in self.said}))


def joined(findings: Iterable[Said]) -> list[Place]:
    """The places, by path and line. Findings of one tool that are equal count once."""
    places: dict[tuple[str, int, str], set[Said]] = defaultdict(set)
    for each in findings:
        if each.kind is not None:
            places[each.path, each.line, each.kind].add(each)
    return [Place(*key, tuple(sorted(said))) for key, said in sorted(places.items())]
