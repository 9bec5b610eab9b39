"""What torchlint says of the programs, all rules on, held against what is expected of them. Nothing runs a program."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.threads.measure import LOUD, Said, lint

from .collection import Program


@dataclass(frozen=True)
class Verdict:
    """A program, and what is said of it."""

    program: Program
    said: tuple[Said, ...]

    @property
    def right(self) -> bool:
        """A finding with an expected code; of a correct program: no error, no warning."""
        if self.program.correct:
            return not self.loud
        return any(each.code in self.program.codes for each in self.said)

    @property
    def loud(self) -> tuple[Said, ...]:
        """What is said at error or warning level."""
        return tuple(each for each in self.said if each.level in LOUD)


def measure(programs: Sequence[Program]) -> list[Verdict]:
    """What is said of each program."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for program in programs:
            path = Path(folder, program.file)
            path.write_text(program.text, encoding="utf-8")
            paths.append(path)
        said = lint(paths)
    return [Verdict(program, tuple(said[program.file])) for program in programs]


def table(verdicts: Sequence[Verdict]) -> str:
    """The figures: what was missed and is found, what was found and still is, what is correct and silent."""
    ruled = [each for each in verdicts if each.program.codes or each.program.correct]
    lines = []
    for was, says in (("missed", "found now"), ("found", "still found"), ("silent", "correct and silent")):
        rows = [each for each in ruled if each.program.was == was]
        right = sum(each.right for each in rows)
        lines.append(f"{says:20}{right:5} of {len(rows):3}  ({100 * right / len(rows):.1f} %)")
    without = [each for each in verdicts if not each.program.codes and not each.program.correct]
    lines.append(f"{'no rule':20}{len(without):5}")
    return "\n".join(lines)
