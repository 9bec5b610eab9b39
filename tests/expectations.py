"""
What a program in the tests is expected to give: markers in its comments, and what the linter says instead.

    y.mul_(2)  # error: [TLN201]  # note: `mul_` overwrites `y`

- `# error: [CODES]`, `# warning: [...]`, `# smell: [...]`, `# strict: [...]`: the findings on this line, exactly.
- `# note: text`, several separated by `; `: the steps on this line, exactly, of the traces of all findings that are
  shown. A program without any note leaves its traces unchecked.

Everything about markers is in this file: `pytest --bless` rewrites the notes (never the codes) of programs whose
traces read differently now.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from torchlint.lint import fixpoint, registry
from torchlint.lint.engine import FileReport, check_text
from torchlint.lint.registry import RULES_PACKAGE, Registry, Selection
from torchlint.rule import Finding, Level, Rule
from torchlint.syntax.tree import Decoded

NOWHERE = os.path.join(os.sep, "program.py")
"""Of a program that is in no project: what this one says of itself is not meant for it."""
_MARKER = re.compile(r" *# (error|warning|smell|strict): \[([^\]]*)\]")
_NOTE = re.compile(r" *# note: (.*?)(?= *# (?:error|warning|smell|strict): \[| *# note: |$)")


@dataclass(frozen=True)
class Expectation:
    """Findings as "error TLN201" and steps of traces, by line."""

    findings: dict[int, list[str]]
    notes: dict[int, list[str]]


@lru_cache(maxsize=1)
def own() -> Registry:
    """Torchlint's own rules: those of a plugin that happens to be installed are not what its suite speaks of."""
    known = registry.load().rules
    return Registry(tuple(rule for rule in known if type(rule).__module__.startswith(f"{RULES_PACKAGE}.")))


def rules() -> tuple[Rule, ...]:
    """Torchlint's own rules."""
    return own().rules


def rule_id(rule: Rule) -> str:
    """How tests name a rule: by its code and its file, so that `-k` finds it by either."""
    return f"{rule.code}-{rule.name.replace('-', '_')}"


def stripped(text: str) -> str:
    """The program without its markers."""
    return "".join(_MARKER.sub("", _NOTE.sub("", line)) for line in text.splitlines(keepends=True))


def expected(text: str) -> Expectation:
    """What the markers say."""
    findings: dict[int, list[str]] = {}
    notes: dict[int, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for level, codes in _MARKER.findall(line):
            findings.setdefault(number, []).extend(f"{level} {code.strip()}" for code in codes.split(","))
        for note in _NOTE.findall(line):
            notes.setdefault(number, []).extend(note.strip().split("; "))
    return Expectation({line: sorted(found) for line, found in findings.items()}, notes)


def lint(text: str, *, strict: bool = False, codes: Iterable[str] | None = None, path: str = NOWHERE) -> FileReport:
    """Lint a program without markers; never fails silently inside. What is in no project is linted once."""
    enabled = frozenset(codes if codes is not None else (rule.code for rule in rules()))
    linted = _linted if path == NOWHERE else _linted.__wrapped__
    report = linted(text, enabled, strict, path)
    assert not report.failed, "\n".join(str(finding) for finding in report.findings)
    assert report.followed, report.findings
    return report


@lru_cache(maxsize=8192)
def _linted(text: str, enabled: frozenset[str], strict: bool, path: str) -> FileReport:
    return check_text(path, text, own(), Selection(enabled, strict=strict))


def actual(report: FileReport) -> Expectation:
    """What the linter says."""
    findings: dict[int, list[str]] = defaultdict(list)
    notes: dict[int, list[str]] = defaultdict(list)
    for finding in report.findings:
        findings[finding.span.line].append(f"{finding.level.value} {finding.code}")
        for step in finding.trace:
            if step.message not in notes[step.line]:
                notes[step.line].append(step.message)
    return Expectation({line: sorted(found) for line, found in findings.items()}, dict(notes))


def with_notes(text: str, notes: dict[int, list[str]]) -> str:
    """The program with other notes."""
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        plain = _NOTE.sub("", line)
        lines.append(f"{plain}  # note: {'; '.join(notes[number])}" if number in notes else plain)
    return "\n".join(lines) + "\n"


def check(text: str, *, strict: bool = False) -> str | None:
    """
    Hold a program against its markers.

    Returns
    -------
    str | None
        The program with the notes it should have, if only those differ.

    Raises
    ------
    AssertionError
        if the findings differ.
    """
    program = stripped(text)
    wanted, found = expected(text), actual(report := lint(program, strict=strict))
    assert found.findings == wanted.findings, described(program, report.findings)
    if wanted.notes and found.notes != wanted.notes:
        return with_notes(text, found.notes)
    return None


def described(program: str, findings: Iterable[Finding]) -> str:
    """The program with what was found, for the message of a failed test."""
    by_line: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_line[finding.span.line].append(finding)
    lines = ["found:"]
    for number, line in enumerate(program.splitlines(), start=1):
        lines.append(f"{number:4} {line}")
        lines += (f"       ^ {item.level.value} {item.code}: {item.message}" for item in by_line[number])
    return "\n".join(lines)


def fixed(program: str, *codes: str, strict: bool = False) -> fixpoint.Fixed:
    """The program after all fixes of some rules (or of all), the unsafe ones included, until nothing changes."""
    return fixpoint.fix(Decoded(program), lambda text: lint(text, strict=strict, codes=codes or None), unsafe=True)


def shown(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that are on by default."""
    return (finding for finding in findings if finding.level is not Level.STRICT)
