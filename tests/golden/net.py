"""
What torchlint says of programs, as data that can be kept and compared byte for byte.

Each program is linted twice, with the defaults and with `--strict`. What is kept is the JSON of its findings, the
places of their traces with their ends, and how many findings were held back or silenced.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import expectations

from torchlint.lint.engine import FileReport, check_text
from torchlint.lint.registry import Selection
from torchlint.report.json_array import as_object

from .programs import Program

Net: TypeAlias = "dict[str, Any]"


def said(programs: Iterable[Program], folder: Path) -> Iterator[tuple[str, Any]]:
    """What is said of each program, by its name; they are linted from a folder, where their imports are found."""
    rules = expectations.own()
    codes = frozenset((*(rule.code for rule in rules.rules), "TLN002"))
    with _working_in(folder):
        for program in programs:
            for suffix, strict in (("", False), (" --strict", True)):
                report = check_text(program.path, program.text, rules, Selection(codes, strict=strict))
                yield program.name + suffix, _kept(report, folder)


def _kept(report: FileReport, folder: Path) -> Any:
    findings = []
    for finding in report.findings:
        trace = [
            {
                "path": _relative(step.path, folder),
                "line": step.line,
                "column": step.column,
                "message": step.message,
                "end_line": step.end_line,
                "end_column": step.end_column,
            }
            for step in finding.trace
        ]
        findings.append({**as_object(finding), "trace": trace})
    return {
        "findings": findings,
        "held_back": report.held_back,
        "suppressed": report.suppressed,
        "failed": report.failed,
        "followed": report.followed,
        "rests_on": sorted(
            _relative(each.path, folder) for each in report.depends if each.digest and each.path.endswith(".py")
        ),
    }


def _relative(path: str, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def written(net: Mapping[str, Any]) -> str:
    """The net as text, the same for the same net."""
    return json.dumps(net, indent=1, ensure_ascii=False) + "\n"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """By program: the lines of what was said (-) and of what is said now (+); also of programs only one of them has."""
    found = {}
    for name in dict.fromkeys((*before, *after)):
        old, new = (_lines(net.get(name)) for net in (before, after))
        if old != new:
            found[name] = "\n".join(list(difflib.unified_diff(old, new, lineterm="", n=0))[2:])
    return found


def _lines(one: Any) -> list[str]:
    """A line per finding, step and edit, so that a difference can be read."""
    if one is None:
        return ["not in the net"]
    lines = []
    for finding in one["findings"]:
        rest = {key: value for key, value in finding.items() if key not in ("trace", "fix", "path", "name")}
        place = ":".join(str(rest.pop(key)) for key in ("line", "column", "end_line", "end_column"))
        head = f"{place} {rest.pop('level')}[{rest.pop('code')}] {rest.pop('message')}"
        lines.append(f"{head} {_compact(rest)}" if any(rest.values()) else head)
        lines += [f"    step {_compact(step)}" for step in finding["trace"]]
        if finding["fix"]:
            lines.append(f"    fix {finding['fix']['title']} (safe: {finding['fix']['safe']})")
            lines += [f"        {_compact(edit)}" for edit in finding["fix"]["edits"]]
    return [*lines, _compact({key: value for key, value in one.items() if key != "findings"})]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
