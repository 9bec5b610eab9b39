"""
Reviewdog's diagnostics as JSON: findings with suggested changes, as comments of a pull request.

See `torchlint.report`. Columns count bytes of UTF-8 there.
Source: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torchlint.finding import Finding, Level
from torchlint.report import HOME, PAGES, Style
from torchlint.results import RunResult
from torchlint.syntax.text import Span

SEVERITIES = {Level.ERROR: "ERROR", Level.WARNING: "WARNING", Level.SMELL: "INFO", Level.STRICT: "INFO"}


def render(run: RunResult, style: Style) -> Iterator[str]:
    """The object, indented."""
    diagnostics = [_diagnostic(finding, style) for finding in run.findings]
    source = {"name": "torchlint", "url": HOME}
    yield json.dumps({"source": source, "severity": "WARNING", "diagnostics": diagnostics}, indent=2) + "\n"


def _diagnostic(finding: Finding, style: Style) -> dict[str, Any]:
    diagnostic: dict[str, Any] = {
        "message": finding.message,
        "location": {"path": finding.path, "range": _range(finding.path, finding.span, finding.cell, style)},
        "severity": SEVERITIES[finding.level],
        "code": {"value": finding.code, "url": f"{PAGES}/{finding.name}.md"},
    }
    if finding.trace:
        diagnostic["relatedLocations"] = [
            {
                "message": step.message,
                "location": {
                    "path": step.path,
                    "range": _range(
                        step.path, Span(step.line, step.column, step.end_line, step.end_column), step.cell, style
                    ),
                },
            }
            for step in finding.trace
        ]
    if (
        finding.fix is not None and finding.cell is None and len(finding.fix.edits) == 1
    ):  # each suggestion is a change of its own
        (edit,) = finding.fix.edits
        diagnostic["suggestions"] = [{"range": _range(finding.path, edit.span, None, style), "text": edit.replacement}]
    return diagnostic


def _range(path: str, span: Span, cell: int | None, style: Style) -> dict[str, Any]:
    found = {"start": {"line": span.line, "column": _column(path, span.line, span.column, cell, style)}}
    if span.end_line:
        found["end"] = {"line": span.end_line, "column": _column(path, span.end_line, span.end_column, cell, style)}
    return found


def _column(path: str, line: int, column: int, cell: int | None, style: Style) -> int:
    text = style.line(path, line, cell) or ""
    return len(text[: column - 1].encode("utf-8", "surrogatepass")) + 1
