"""
Annotations of GitHub Actions: one workflow command per finding, shown beside the line it is about.

See `torchlint.report`.
Source: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.finding import Finding, Level
from torchlint.report import Style
from torchlint.results import RunResult

KINDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.SMELL: "notice", Level.STRICT: "notice"}


def body(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """The commands."""
    for finding in findings:
        span = finding.span
        properties = {
            "title": f"torchlint {finding.code} ({finding.name})",
            "file": Path(finding.path).as_posix(),
            "line": str(span.line),
            "endLine": str(max(span.end_line, span.line)),
        }
        if span.end_line == span.line:  # GitHub takes columns only within a line, with the last one included
            properties |= {"col": str(span.column), "endColumn": str(max(span.end_column - 1, span.column))}
        listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        yield f"::{KINDS[finding.level]} {listed}::{_data(_message(finding, style))}\n"


def closing(run: RunResult, style: Style) -> Iterator[str]:
    """Nothing: every line is a command."""
    yield from ()


def _message(finding: Finding, style: Style) -> str:
    lines = [finding.message]
    if style.trace:
        lines += [f"{step.path}:{step.line}: {step.message}" for step in finding.trace]
    if finding.fix is not None:
        lines.append(f"fix: {finding.fix.title}")
    if finding.verdict is not None:
        lines.append(f"torch: {finding.verdict.status}: {finding.verdict.evidence}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
