"""
What the sanitizer tells, as data, and the two ways it is written: plain text, and JSON.

Knows nothing of torch; writes, and decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Step:
    """
    One thing that happened, and where.

    Attributes
    ----------
    path, line, source
        Where, and the text there; "" and 0 if no line of the program is behind it.
    text
        What happened.
    callers
        `path:line` of the lines that called it, the innermost first.
    """

    path: str
    line: int
    source: str
    text: str
    callers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """
    One finding.

    Attributes
    ----------
    kind
        What it is, in a word, for programs that read the JSON.
    title
        What it is, for people.
    steps
        What led to it, in the order it happened.
    cure
        What to do; "" if nothing general can be said.
    culprit
        Index of the step to look at first; -1 if there is none.
    """

    kind: str
    title: str
    steps: tuple[Step, ...] = ()
    cure: str = ""
    culprit: int = -1


@dataclass(frozen=True)
class Page:
    """All that is told of a run."""

    sections: Sequence[Section] = field(default_factory=tuple)
    summary: str = ""


def text(page: Page) -> str:
    """The page as plain text."""
    out = []
    for section in page.sections:
        out.append(f"torchlint: {section.title}")
        for index, step in enumerate(section.steps):
            mark = "→" if index == section.culprit else " "
            where = f"{step.path}:{step.line}: " if step.path else ""
            out.append(f"  {mark} {where}{step.text}")
            if step.source:
                out.append(f"        {step.source}")
            if step.callers:
                out.append(f"        called from {', '.join(step.callers)}")
        if section.cure:
            out.append(f"    {section.cure}")
        out.append("")
    if page.summary:
        out.append(f"torchlint: {page.summary}")
    return "\n".join(out) + "\n"


def as_json(page: Page) -> str:
    """The page as one JSON object."""
    sections = []
    for section in page.sections:
        told = asdict(section)
        told["culprit"] = None if section.culprit < 0 else section.culprit
        sections.append(told)
    return json.dumps({"sections": sections, "summary": page.summary}, indent=2, ensure_ascii=False) + "\n"
