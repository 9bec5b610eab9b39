"""
Findings of several tools, joined where they speak of one thing: the same file, line and kind.

Runs no tool and reads no file. A code that `KINDS` does not name has no kind and is left out: what a tool says of
Python itself is nothing to compare.
"""

from __future__ import annotations

from collections import Counter, defaultdict
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
EXPLAINED = {
    "TOR102": "from torch 2.6 on `torch.load(p)` means `weights_only=True`; below, TLN904 says the same",
    "TOR203": "the same program in another style",
    "TOR401": "whether workers help depends on the dataset",
    "NPY002": "another interface of NumPy's generators; whether a seed is missing is TLN808",
    "RUF069": "compares with a literal, not two results of a computation, which is TLN603",
}
"""Why torchlint is silent where one of these codes speaks alone: by the rule, whatever the place is."""


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


def table(places: Iterable[tuple[str, Place]]) -> list[str]:
    """
    Markdown: what was said of how many places, by kind and by who speaks; and where torchlint is silent, why.

    Parameters
    ----------
    places
        Each with the folder that it is in.
    """
    counted: dict[tuple[str, str, str, str], Counter[str]] = defaultdict(Counter)
    for folder, place in places:
        codes = {each.tool: each.code for each in place.said}
        ours = " ".join(sorted({_with_level(each) for each in place.said if each.tool == "torchlint"})) or "silent"
        theirs = " ".join(f"{tool} {code}" for tool, code in sorted(codes.items()) if tool != "torchlint") or "silent"
        why = ""
        if ours == "silent":
            known = {EXPLAINED.get(each.code, "") for each in place.said}
            why = "; ".join(sorted(known)) if all(known) else UNEXPLAINED
        counted[place.kind, theirs, ours, why][folder] += 1
    lines = ["| what | places | others | torchlint | why |", "| --- | --- | --- | --- | --- |"]
    for (kind, theirs, ours, why), where in sorted(counted.items()):
        named = ", ".join(f"{folder} {count}" for folder, count in sorted(where.items()))
        lines.append(f"| {kind} | {sum(where.values())} ({named}) | {theirs} | {ours} | {why} |")
    return lines


UNEXPLAINED = "**not explained**"


def _with_level(said: Said) -> str:
    """`TLN902 strict`: torchlint's messages begin with the level, in parentheses."""
    level = said.message.partition(")")[0].removeprefix("(")
    return f"{said.code} {level}".strip()
