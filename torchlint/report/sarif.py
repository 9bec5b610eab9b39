"""
SARIF 2.1.0, for GitHub code scanning and everything else that reads it: traces as code flows, fixes as replacements.

See `torchlint.report`. Paths are relative to `%SRCROOT%`, the working directory; columns count characters.
Source: the OASIS standard, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import torchlint
from torchlint.finding import Finding, FindingFix, Level, TraceLine
from torchlint.report import HOME, PAGES, Style
from torchlint.report.fingerprint import of_findings
from torchlint.results import RunResult
from torchlint.syntax.text import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "torchlint/v1"
LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.SMELL: "note", Level.STRICT: "note"}


def render(run: RunResult, style: Style) -> Iterator[str]:
    """The log, indented."""
    findings = run.findings
    codes = sorted({finding.code for finding in findings})
    driver = {
        "name": "torchlint",
        "version": torchlint.__version__,
        "semanticVersion": torchlint.__version__,
        "informationUri": HOME,
        "rules": [_rule(code, findings, style) for code in codes],
    }
    prints = of_findings(findings, style.line)
    results = [
        _result(finding, codes.index(finding.code), which.stable)
        for finding, which in zip(findings, prints, strict=True)
    ]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": not run.failed}],
                "results": results,
            }
        ],
    }
    yield json.dumps(log, indent=2) + "\n"


def _rule(code: str, findings: Sequence[Finding], style: Style) -> dict[str, Any]:
    first = next(finding for finding in findings if finding.code == code)
    described: dict[str, Any] = {"id": code, "name": first.name}
    about = style.about(code)
    if about is not None:
        described["shortDescription"] = {"text": about.summary}
        described["help"] = {"text": about.summary, "markdown": about.page or about.summary}
        described["defaultConfiguration"] = {"level": LEVELS[about.level]}
        if about.page:
            described["helpUri"] = f"{PAGES}/{first.name}.md"
    described["properties"] = {"tags": ["pytorch", "autograd"]}
    return described


def _result(finding: Finding, index: int, stable: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.level],
        "message": {"text": finding.message},
        "locations": [_location(finding.path, finding.span, cell=finding.cell)],
        "partialFingerprints": {FINGERPRINT: stable},
    }
    if finding.trace:
        steps = [
            {"location": _location(step.path, _span(step), step.message, cell=step.cell), "executionOrder": number}
            for number, step in enumerate(finding.trace, start=1)
        ]
        result["codeFlows"] = [{"message": {"text": "how it comes about"}, "threadFlows": [{"locations": steps}]}]
        result["relatedLocations"] = [
            {"id": number, **_location(step.path, _span(step), step.message, cell=step.cell)}
            for number, step in enumerate(finding.trace, start=1)
        ]
    if finding.fix is not None and finding.cell is None:  # a region is one of the file, not of a cell
        result["fixes"] = [_fix(finding.path, finding.fix)]
    properties: dict[str, Any] = {"name": finding.name, "level": finding.level.value}
    if finding.conditions:
        properties["conditions"] = [each.expression for each in finding.conditions]
    if finding.verdict is not None:
        properties["verdict"] = {"status": finding.verdict.status, "evidence": finding.verdict.evidence}
    result["properties"] = properties
    return result


def _location(path: str, span: Span, message: str | None = None, *, cell: int | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(span)}}
    if cell is not None:
        location["logicalLocations"] = [{"name": f"cell {cell}", "kind": "module"}]
    if message is not None:
        location["message"] = {"text": message}
    return location


def _artifact(path: str) -> dict[str, str]:
    relative = os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(path)
    if relative.startswith(os.pardir):
        return {"uri": Path(path).absolute().as_uri()}
    return {"uri": quote(Path(relative).as_posix()), "uriBaseId": "%SRCROOT%"}


def _region(span: Span) -> dict[str, int]:
    region = {"startLine": span.line, "startColumn": span.column}
    if span.end_line:
        region.update(endLine=span.end_line, endColumn=span.end_column)
    return region


def _span(step: TraceLine) -> Span:
    return Span(step.line, step.column, step.end_line, step.end_column)


def _fix(path: str, fix: FindingFix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}} for edit in fix.edits
    ]
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
        "properties": {"safe": fix.safe},
    }
