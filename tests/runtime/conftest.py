"""Findings written by hand, as comments in small programs: the cross-check is tested without the linter."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import pytest

from torchlint.rule import Finding, FindingFix, Level, TextEdit, TraceLine, Verdict
from torchlint.syntax.tree import Source, Span
from torchlint.verify.verify import verify_findings

MARK = re.compile(r"# (error|warning|smell|strict): \[(\w+)\]")
NOTE = re.compile(r"# note: (.*)")


def findings_in(
    text: str, path: str, fixes: dict[str, tuple[str, str, bool]] | None = None, message: str = ""
) -> list[Finding]:
    """
    A finding per `# error: [CODE]`; each has all lines with `# note: text` as its trace.

    `fixes` maps a code to (old text on the finding's line, new text, safe).
    """
    lines = text.splitlines()
    trace = tuple(
        TraceLine(path, number, _column(line), match[1])
        for number, line in enumerate(lines, 1)
        if (match := NOTE.search(line))
    )
    found = []
    for number, line in enumerate(lines, 1):
        for level, code in MARK.findall(line):
            span = Span(number, _column(line), number, len(line.partition("#")[0].rstrip()) + 1)
            fix = None
            if fixes and code in fixes:
                old, new, safe = fixes[code]
                start = line.index(old) + 1
                edit = TextEdit(Span(number, start, number, start + len(old)), new)
                fix = FindingFix(f"write `{new}`", safe, (edit,))
            found.append(Finding(path, span, code, code.lower(), Level(level), message, trace, fix))
    assert found, "the program marks no finding"
    return found


def _column(line: str) -> int:
    return len(line) - len(line.lstrip()) + 1


@pytest.fixture
def verdicts() -> Callable[..., list[Verdict]]:
    """Cross-check the marked findings of a program."""

    def run(
        program: str,
        *,
        path: str = "snippet.py",
        fixes: dict[str, tuple[str, str, bool]] | None = None,
        message: str = "",
        timeout: float = 20.0,
        memory_mb: int = 2048,
    ) -> list[Verdict]:
        text = textwrap.dedent(program).lstrip("\n")
        findings = findings_in(text, path, fixes, message)
        verified = verify_findings(Source.parse(path, text), findings, timeout=timeout, memory_mb=memory_mb)
        assert [(f.code, f.span) for f in verified] == [(f.code, f.span) for f in findings]
        assert all(f.verdict is not None for f in verified)
        return [f.verdict for f in verified if f.verdict is not None]

    return run
