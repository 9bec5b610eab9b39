"""
The programs of this folder, and what their headers say.

A program `NNN_slug.py` reduces one public thread to a program of our own that shows its symptom. It begins with five
comments, in this order:

    # thread: address of the thread
    # diagnosis: the mistake in one sentence
    # mistake: the lines of it, as numbers of this file
    # expected: the codes of which one would be right there, or `none` where no rule of the catalogue is about it
    # symptom: `raises CLASS: text`, `prints text` or `warns text`, under torch

`NNN_slug_correct.py` is the same program mended; it begins with `# correct: NNN_slug.py` and `# cure: …`.

Nothing here imports torch or torchlint, and nothing runs a program.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
SEED = "threads 1"
KINDS = {
    "1": "backward and the graph",
    "2": "in-place and views",
    "3": "parameters and modules",
    "4": "training loop",
    "5": "custom functions and hooks",
    "6": "numerics",
    "7": "needless work",
    "8": "data and seeds",
    "9": "API",
    "": "no rule",
}
_HEADER = re.compile(
    r"\A# thread: (?P<thread>https?://\S+)\n"
    r"# diagnosis: (?P<diagnosis>.+\.)\n"
    r"# mistake: (?P<lines>\d+(?:, \d+)*)\n"
    r"# expected: (?P<codes>none|TLN\d{3}(?:, TLN\d{3})*)\n"
    r"# symptom: (?P<how>raises|prints|warns) (?P<symptom>.+)\n\n"
)
_TWIN = re.compile(r"\A# correct: (?P<of>\w+\.py)\n# cure: (?P<cure>.+\.)\n\n")


@dataclass(frozen=True)
class Program:
    """One thread's program: its file, and what its header says."""

    path: Path
    thread: str
    diagnosis: str
    lines: frozenset[int]
    codes: tuple[str, ...]
    how: str
    symptom: str

    @property
    def kind(self) -> str:
        """What the mistake is about: the family of the first code."""
        return KINDS[self.codes[0][3] if self.codes else ""]

    @property
    def held_out(self) -> bool:
        """Whether the program is in the half that nobody tunes on: one bit of the SHA-256 of the seed and its name."""
        return hashlib.sha256(f"{SEED} {self.path.name}".encode()).digest()[0] % 2 == 0

    @property
    def half(self) -> str:
        """`open` or `held out`."""
        return "held out" if self.held_out else "open"


@dataclass(frozen=True)
class Twin:
    """A mended program, and the program that it mends."""

    path: Path
    of: Program
    cure: str


def program(path: Path) -> Program:
    """
    The program of a file.

    Raises:
        ValueError: its header has not the form of the module's docstring.

    """
    match = _HEADER.match(path.read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{path.name}: the header has not the form that {__name__} describes")
    return Program(
        path=path,
        thread=match["thread"],
        diagnosis=match["diagnosis"],
        lines=frozenset(map(int, match["lines"].split(", "))),
        codes=() if match["codes"] == "none" else tuple(match["codes"].split(", ")),
        how=match["how"],
        symptom=match["symptom"],
    )


def programs() -> list[Program]:
    """All programs, by name."""
    return [program(path) for path in sorted(FOLDER.glob("[0-9]*.py")) if not path.stem.endswith("_correct")]


def twins() -> list[Twin]:
    """
    All mended programs, by name.

    Raises:
        ValueError: a header has not the form of the module's docstring, or names a program that is not there.

    """
    by_name = {each.path.name: each for each in programs()}
    found = []
    for path in sorted(FOLDER.glob("[0-9]*_correct.py")):
        match = _TWIN.match(path.read_text(encoding="utf-8"))
        if match is None or match["of"] not in by_name:
            raise ValueError(f"{path.name}: the header has not the form that {__name__} describes")
        found.append(Twin(path, by_name[match["of"]], match["cure"]))
    return found
