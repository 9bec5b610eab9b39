"""
A finding as it is reported, cached and sent to other programs: no node, no tree, only places and words.

Imports no libcst: a run whose findings all come from the cache never loads it.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Literal

from torchlint.claims import Claim
from torchlint.condition import Condition
from torchlint.record import record
from torchlint.syntax.text import Span


class Level(Enum):
    """
    How bad it is, worst first (RULES: error, warning, smell, strict).

    `ERROR`: proven that torch raises, or that the program cannot learn. `WARNING`: runs, and is wrong or leaks.
    `SMELL`: works today, fragile or needlessly slow. `STRICT`: correct code that a purist would change; off by default.
    """

    ERROR = "error"
    WARNING = "warning"
    SMELL = "smell"
    STRICT = "strict"

    @property
    def rank(self) -> int:
        """0 for error … 3 for strict."""
        return list(Level).index(self)


@record(frozen=True)
class TraceLine:
    """A step of a trace with its place (in a notebook, in a cell), ready to be shown; the end is 0, 0 if not known."""

    path: str
    line: int
    column: int
    message: str
    end_line: int = 0
    end_column: int = 0
    cell: int | None = None


@record(frozen=True)
class TextEdit:
    """Replace the text of a range; in a notebook, of one in a cell."""

    span: Span
    replacement: str
    cell: int | None = None


@record(frozen=True)
class FindingFix:
    """A `Fix` with places instead of nodes."""

    title: str
    safe: bool
    edits: tuple[TextEdit, ...]


@record(frozen=True)
class Verdict:
    """
    What running the finding's program under torch showed.

    Attributes
    ----------
    status
        "confirmed": torch shows the symptom at that place. "refuted": it ran, and the symptom did not show.
        "inconclusive": it could not be run, or did not come to that place.
    evidence
        Torch's own message, or why there is none.
    seconds
        Wall-clock time of the run.
    """

    status: Literal["confirmed", "refuted", "inconclusive"]
    evidence: str
    seconds: float


@record(frozen=True)
class Finding:
    """
    A diagnostic with its place in a file: what is reported, cached and sent to other programs (see CLI: JSON).

    In a notebook, `cell` counts all cells from 1, and lines are those of the cell. `conditions` is what its proof
    rests on beside the text of the program; the message says the same in words.
    `claims` is what torch must show for it to be true, as alternatives.
    `others` are the further places of a finding that stands for several; their messages are empty.
    """

    path: str
    span: Span
    code: str
    name: str
    level: Level
    message: str
    trace: tuple[TraceLine, ...] = ()
    fix: FindingFix | None = None
    verdict: Verdict | None = None
    cell: int | None = None
    conditions: tuple[Condition, ...] = ()
    claims: tuple[Claim, ...] = ()
    others: tuple[TraceLine, ...] = ()


def shown_beside(path: str, shown: str) -> str:
    """
    How the path of another file is shown in a finding of a file: as that file's own is, from the working directory or
    whole.
    """
    if os.path.isabs(shown) or not os.path.isabs(path):
        return path
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive
        return path
