"""
All findings as one JSON array.

See `torchlint.report`; the shape of an element is part of the command line's contract.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from torchlint.finding import Finding, TextEdit, TraceLine
from torchlint.report import Style
from torchlint.results import RunResult
from torchlint.syntax.text import Span


def render(run: RunResult, style: Style) -> Iterator[str]:
    """The array, indented."""
    yield json.dumps([as_object(finding) for finding in run.findings], indent=2) + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """
    A finding for programs: lines and columns count from 1, columns in characters, ends are exclusive.

    `cell` is there only for what is in a notebook, where lines are those of the cell; `conditions` only for a finding
    whose proof rests on some; `others`, the further places, only for one that stands for several, with a `path` where
    that is another file.
    """
    fix, verdict = finding.fix, finding.verdict
    value: dict[str, Any] = {
        "path": finding.path,
        **_place(finding.span),
        "code": finding.code,
        "name": finding.name,
        "level": finding.level.value,
        "message": finding.message,
        "trace": [_step(step) for step in finding.trace],
        "fix": fix and {"title": fix.title, "safe": fix.safe, "edits": [_edit(edit) for edit in fix.edits]},
        "verdict": verdict
        and {"status": verdict.status, "evidence": verdict.evidence, "seconds": round(verdict.seconds, 3)},
    }
    if finding.conditions:
        value["conditions"] = [
            {"kind": each.kind, "expression": each.expression, "holds": each.holds} for each in finding.conditions
        ]
    if finding.others:
        value["others"] = [_other(each, finding.path) for each in finding.others]
    if finding.cell is not None:
        value["cell"] = finding.cell
    return value


def _place(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _step(step: TraceLine) -> dict[str, Any]:
    place = {"path": step.path, "line": step.line, "column": step.column, "message": step.message}
    return place if step.cell is None else {**place, "cell": step.cell}


def _other(place: TraceLine, path: str) -> dict[str, Any]:
    value: dict[str, Any] = _place(Span(place.line, place.column, place.end_line, place.end_column))
    if place.path != path:
        value["path"] = place.path
    return value if place.cell is None else {**value, "cell": place.cell}


def _edit(edit: TextEdit) -> dict[str, Any]:
    place = {**_place(edit.span), "replacement": edit.replacement}
    return place if edit.cell is None else {**place, "cell": edit.cell}
