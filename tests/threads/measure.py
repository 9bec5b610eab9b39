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
    """A program, and what is said of it: at the mistake with a right code, and loudly elsewhere."""

    program: Program
    right: tuple[Said, ...]
    beside: tuple[Said, ...]

    @property
    def level(self) -> str:
        """The loudest level at which the mistake is reported; empty where it is missed."""
        return min((each.level for each in self.right), key=LEVELS.index, default="")

    @property
    def outcome(self) -> str:
        """`no rule`, `missed`, or `found` with its level."""
        if not self.program.codes:
            return "no rule"
        return f"found ({self.level})" if self.right else "missed"


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
        right = tuple(each for each in findings if _right(program, each))
        beside = tuple(each for each in findings if each.level in LOUD and each not in right)
        verdicts.append(Verdict(program, right, beside))
    return verdicts


def _right(program: Program, finding: Said) -> bool:
    touches = any(finding.line <= line <= finding.end_line for line in program.lines)
    return touches and finding.code in program.codes


def alarms(twins: Iterable[Twin], said: dict[str, list[Said]]) -> dict[str, list[Said]]:
    """What is said at error or warning level of the mended programs: all of it is wrong."""
    found = {twin.path.name: [each for each in said[twin.path.name] if each.level in LOUD] for twin in twins}
    return {name: findings for name, findings in found.items() if findings}


def table(verdicts: list[Verdict]) -> str:
    """Found and missed by kind, for each half."""
    lines = []
    for half in ("open", "held out"):
        of_half = [each for each in verdicts if each.program.half == half]
        lines += [f"{half} half", _row("kind", "programs", "found", *LEVELS, "missed", "beside")]
        for kind in (*KINDS.values(), "all that a rule is about"):
            rows = [each for each in of_half if each.program.kind == kind]
            if kind not in KINDS.values():
                rows = [each for each in of_half if each.program.codes]
            if not rows:
                continue
            found = [each for each in rows if each.right]
            counts = [sum(each.level == level for each in rows) for level in LEVELS]
            missed = sum(bool(each.program.codes) and not each.right for each in rows)
            share = f"{len(found)} ({100 * len(found) / len(rows):.0f} %)"
            lines.append(_row(kind, len(rows), share, *counts, missed, sum(len(each.beside) for each in rows)))
        lines.append("")
    return "\n".join(lines)


def _row(kind: str, *cells: object) -> str:
    return f"{kind:28}" + "".join(f"{cell!s:>11}" for cell in cells)
