"""
Findings in the words of the Language Server Protocol: positions, severities, edits. Decides nothing.

Columns here are characters and count from 1; there they are UTF-16 code units (or what the editor asked
for) and count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types

from torchlint.finding import Finding, FindingFix, Level
from torchlint.syntax.text import Span

SEVERITY = {
    Level.ERROR: types.DiagnosticSeverity.Error,
    Level.WARNING: types.DiagnosticSeverity.Warning,
    Level.SMELL: types.DiagnosticSeverity.Information,
    Level.STRICT: types.DiagnosticSeverity.Hint,
}

Units = Callable[[str], int]
"""How many of the editor's units a text has."""


def position(lines: Sequence[str], line: int, column: int, units: Units) -> types.Position:
    """A place; one behind the last line is its end."""
    if line > len(lines):
        last = lines[-1] if lines else ""
        return types.Position(max(len(lines) - 1, 0), units(last))
    return types.Position(line - 1, units(lines[line - 1][: column - 1]))


def extent(lines: Sequence[str], span: Span, units: Units) -> types.Range:
    """A range."""
    start = position(lines, span.line, span.column, units)
    return types.Range(start, position(lines, span.end_line, span.end_column, units))


def edit_extent(lines: Sequence[str], span: Span, units: Units) -> types.Range:
    """The range of an edit; one of the whole last line takes the newline before it along."""
    whole = span.column == 1 and span.end_column == 1 and span.end_line > len(lines) and span.line > 1
    if whole:
        before = lines[span.line - 2]
        start = types.Position(span.line - 2, units(before))
        return types.Range(start, position(lines, span.end_line, 1, units))
    return extent(lines, span, units)


def diagnostic(
    finding: Finding, lines: Sequence[str], units: Units, related: Sequence[types.DiagnosticRelatedInformation]
) -> types.Diagnostic:
    """A finding as an editor shows it; a refuted one no longer as what it claimed."""
    message = finding.message
    severity = SEVERITY[finding.level]
    if finding.verdict is not None:
        evidence = f": {finding.verdict.evidence}" if finding.verdict.evidence else ""
        message += f"\ntorch: {finding.verdict.status}{evidence}"
        if finding.verdict.status == "refuted":
            severity = types.DiagnosticSeverity.Hint
    return types.Diagnostic(
        range=extent(lines, finding.span, units),
        message=message,
        severity=severity,
        code=finding.code,
        source="torchlint",
        related_information=list(related) or None,
    )


def title(fix: FindingFix) -> str:
    """What a fix is called in a menu."""
    return f"torchlint: {fix.title}" if fix.safe else f"torchlint: {fix.title} (unsafe: may change what the code does)"


def covers(finding: Finding, wanted: types.Range, lines: Sequence[str], units: Units) -> bool:
    """Whether a finding is at a place."""
    own = extent(lines, finding.span, units)
    start, end = wanted.start, wanted.end
    before = (own.end.line, own.end.character) < (start.line, start.character)
    after = (own.start.line, own.start.character) > (end.line, end.character)
    return not before and not after
