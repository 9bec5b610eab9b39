"""
The programs of the golden net: everything in this repository that is linted in its tests, and packages on request.

Only reads files; lints nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import expectations
import test_cases
import test_scripts

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Program:
    """
    One text to lint.

    Attributes
    ----------
    name
        What it is called in the net.
    text
        Without markers.
    path
        Where it lies, relative to the folder it is linted from, so that its imports are found.
    """

    name: str
    text: str
    path: str = "program.py"


def small() -> Iterator[Program]:
    """The projects of several files and the documented examples: with traces through files, fixes, all in seconds."""
    for folder in ("tests/projects", "docs/examples"):
        yield from _files(ROOT, folder)


def own() -> Iterator[Program]:
    """Everything in the repository: also rules' examples, cases (each by itself, and file by file), scripts, twins."""
    yield from small()
    for rule in expectations.rules():
        for kind in ("bad", "good"):
            for number, example in enumerate(getattr(rule, kind), start=1):
                yield Program(f"{rule.code} {kind} {number}", expectations.stripped(example.source))
    yield from _files(ROOT, "tests/cases")
    for case in test_cases.CASES:
        yield Program(f"{case.path.stem} {case.name}", expectations.stripped(case.program))
    yield from _files(ROOT, "tests/scripts")
    for name, twin in test_scripts.TWINS.items():
        yield Program(f"{twin.script}: {name}", expectations.stripped(twin.text))


def of_packages(folder: Path) -> Iterator[Program]:
    """Every Python file below a folder that mentions torch, in the order of its path."""
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        if b"torch" in data:
            yield Program(_relative(path, folder), data.decode("utf-8", "replace"), _relative(path, folder))


def _files(root: Path, folder: str) -> Iterator[Program]:
    for path in sorted((root / folder).rglob("*.py")):
        relative = _relative(path, root)
        yield Program(relative, expectations.stripped(path.read_text(encoding="utf-8")), relative)


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
