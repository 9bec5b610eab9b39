"""
What torchlint says of the programs, held against their headers.

The programs are copied into an empty folder before they are linted, all rules on, without any configuration: no
project's metadata names a target, and no folder's name tells that they are tests. Nothing here runs a program.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .collection import KINDS, Program, Twin

LEVELS = ("error", "warning", "smell", "strict")
LOUD = ("error", "warning")


@dataclass(frozen=True)
class Said:
    """One finding: where, which rule, how loud."""

    line: int
    end_line: int
    code: str
    level: str
    message: str

    def __str__(self) -> str:
        """As one line for people."""
        return f"{self.line}: {self.level} {self.code} {self.message}"


@dataclass(frozen=True)
class Verdict:
    """A program, and what is said of it: a right code at the mistake, one elsewhere, other codes loudly."""

    program: Program
    right: tuple[Said, ...]
    elsewhere: tuple[Said, ...]
    beside: tuple[Said, ...]

    @property
    def level(self) -> str:
        """The loudest level at which the mistake is reported; empty where it is not."""
        return min((each.level for each in self.right), key=LEVELS.index, default="")

    @property
    def outcome(self) -> str:
        """`found` with its level, `elsewhere` (the code is right, the line another), `missed`, or `no rule`."""
        if not self.program.codes:
            return "no rule"
        if self.right:
            return f"found ({self.level})"
        return "elsewhere" if self.elsewhere else "missed"


def lint(paths: Iterable[Path]) -> dict[str, list[Said]]:
    """
    The findings of each file, by its name.

    Raises:
        subprocess.CalledProcessError: the linter has failed.

    """
    with tempfile.TemporaryDirectory() as folder:
        said: dict[str, list[Said]] = {}
        for path in paths:
            shutil.copy(path, folder)
            said[path.name] = []
        options = ["--isolated", "--no-cache", "--exit-zero", "--strict", "--jobs", "1", "--output-format", "json"]
        command = [sys.executable, "-m", "torchlint", "check", *options, folder]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for one in json.loads(output):
            finding = Said(one["line"], one["end_line"], one["code"], one["level"], one["message"])
            said[Path(one["path"]).name].append(finding)
    return said


def judge(programs: Iterable[Program], said: dict[str, list[Said]]) -> list[Verdict]:
    """Each program with what is said of it."""
    verdicts = []
    for program in programs:
        findings = said[program.path.name]
        expected = [each for each in findings if each.code in program.codes]
        right = tuple(each for each in expected if _touches(program, each))
        elsewhere = tuple(each for each in expected if each not in right)
        beside = tuple(each for each in findings if each.level in LOUD and each not in expected)
        verdicts.append(Verdict(program, right, elsewhere, beside))
    return verdicts


def _touches(program: Program, finding: Said) -> bool:
    return any(finding.line <= line <= finding.end_line for line in program.lines)


def alarms(twins: Iterable[Twin], said: dict[str, list[Said]]) -> dict[str, list[Said]]:
    """What is said at error or warning level of the mended programs: all of it is wrong."""
    found = {twin.path.name: [each for each in said[twin.path.name] if each.level in LOUD] for twin in twins}
    return {name: findings for name, findings in found.items() if findings}


def table(verdicts: list[Verdict]) -> str:
    """Found and missed by kind, for each half."""
    lines = []
    for half in ("open", "held out"):
        of_half = [each for each in verdicts if each.program.half == half]
        lines += [f"{half} half", _row("kind", "programs", "found", *LEVELS, "elsewhere", "missed", "beside")]
        for kind in (*KINDS.values(), "all that a rule is about"):
            rows = [each for each in of_half if each.program.kind == kind]
            if kind not in KINDS.values():
                rows = [each for each in of_half if each.program.codes]
            if not rows:
                continue
            found = [each for each in rows if each.right]
            counts = [sum(each.level == level for each in rows) for level in LEVELS]
            counts += [sum(each.outcome == outcome for each in rows) for outcome in ("elsewhere", "missed")]
            share = f"{len(found)} ({100 * len(found) / len(rows):.0f} %)"
            lines.append(_row(kind, len(rows), share, *counts, sum(len(each.beside) for each in rows)))
        lines.append("")
    return "\n".join(lines)


def _row(kind: str, *cells: object) -> str:
    return f"{kind:28}" + "".join(f"{cell!s:>11}" for cell in cells)
