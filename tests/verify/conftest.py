"""Findings written by hand, as comments in small programs: the cross-check is tested without the linter."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping

import pytest

from torchlint.rule import (
    Claim,
    Condition,
    Finding,
    FindingFix,
    Level,
    Observed,
    Raises,
    TextEdit,
    TraceLine,
    Verdict,
)
from torchlint.syntax.tree import Source, Span
from torchlint.verify.verify import verify_findings

MARK = re.compile(r"# (error|warning|smell|strict): \[(\w+)\]")
OVERWRITTEN = (Raises("modified by an inplace operation", here=False),)
GRAPH_WRITTEN = (Observed("graph-written"),)
CLAIMS: dict[str, tuple[Claim, ...]] = {
    "TLN101": (Raises("Trying to backward through the graph a second time"),),
    "TLN102": (Observed("retained-graph"),),
    "TLN103": (Raises("grad can be implicitly created only for scalar outputs"),),
    "TLN104": (Raises("does not require grad and does not have a grad_fn"),),
    "TLN201": OVERWRITTEN,
    "TLN203": (Raises("a leaf Variable that requires grad"),),
    "TLN204": GRAPH_WRITTEN,
    "TLN205": GRAPH_WRITTEN,
    "TLN206": (Observed("alias-written"),),
    "TLN212": (Observed("result-dropped"),),
    "TLN213": (Observed("argument-written"),),
    "TLN301": (Observed("leaf-lost", other="parameter"),),
    "TLN306": (Observed("leaf-lost"),),
    "TLN401": (Observed("gradient-zeroed"),),
    "TLN402": (Observed("gradients-carried"),),
}
"""What the rules of these codes claim; programs that name a tensor give the claim themselves."""
NOTE = re.compile(r"# note: (.*)")


def findings_in(
    text: str,
    path: str,
    fixes: dict[str, tuple[str, str, bool]] | None = None,
    message: str = "",
    claims: Mapping[str, tuple[Claim, ...]] = CLAIMS,
    conditions: tuple[Condition, ...] = (),
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
            claimed = claims.get(code, ())
            name = code.lower()
            found.append(
                Finding(path, span, code, name, Level(level), message, trace, fix, None, None, conditions, claimed)
            )
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
        claims: Mapping[str, tuple[Claim, ...]] | None = None,
        conditions: tuple[Condition, ...] = (),
        timeout: float = 20.0,
        memory_mb: int = 2048,
    ) -> list[Verdict]:
        text = textwrap.dedent(program).lstrip("\n")
        findings = findings_in(text, path, fixes, message, {**CLAIMS, **(claims or {})}, conditions)
        verified = verify_findings(Source.parse(path, text), findings, timeout=timeout, memory_mb=memory_mb)
        assert [(f.code, f.span) for f in verified] == [(f.code, f.span) for f in findings]
        assert all(f.verdict is not None for f in verified)
        return [f.verdict for f in verified if f.verdict is not None]

    return run
