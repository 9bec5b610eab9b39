"""
Where findings stand in the eyes of those who know lines of files and no cells: git, and the services that annotate
files. A notebook's finding has the line of its JSON there.

Knows findings and notebooks; judges nothing and prints nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.results import FileOutcome

if TYPE_CHECKING:
    from torchlint.finding import Finding

COUNTED_IN_FILES = frozenset({"sarif", "github", "gitlab", "junit", "azure", "rdjson"})
"""Formats whose readers show a place by the line of the file as it lies in the repository."""


def in_file(findings: Sequence[Finding], path: str, texts: Mapping[str, str]) -> tuple[Finding, ...]:
    """
    The findings of a file, at the lines of the file.

    Parameters
    ----------
    findings
        What is found in it.
    path, texts
        The file, and texts of files that do not lie on disk.

    Raises
    ------
    SourceError
        if a file that was a notebook is none any more.
    """
    if not any(finding.cell for finding in findings):
        return tuple(findings)
    from torchlint.lint import notebooks
    from torchlint.syntax.notebook import Notebook

    data = texts[path].encode() if path in texts else Path(path).read_bytes()
    notebook = Notebook.read(data)
    return tuple(notebooks.in_file(finding, notebook) for finding in findings)


def told_in_file(outcome: FileOutcome, texts: Mapping[str, str]) -> FileOutcome:
    """
    A file's findings as those report them who count its lines: the message names the cell, and no fix is offered,
    since its edits are in a cell. What cannot be read again is reported with its cells.
    """
    from torchlint.syntax.text import SourceError

    report = outcome.report
    try:
        placed = in_file(report.findings, report.path, texts)
    except (OSError, SourceError):
        return outcome
    return replace(outcome, report=replace(report, findings=tuple(map(_named, report.findings, placed))))


def _named(finding: Finding, placed: Finding) -> Finding:
    if finding.cell is None:
        return finding
    where = f"cell {finding.cell}, line {finding.span.line}"
    trace = tuple(
        step if own.cell is None else replace(step, message=f"cell {own.cell}, line {own.line}: {step.message}")
        for own, step in zip(finding.trace, placed.trace, strict=True)
    )
    return replace(placed, message=f"{where}: {finding.message}", trace=trace, fix=None)


def touched(finding: Finding, lines: frozenset[int]) -> bool:
    """
    Whether a finding, a step that leads to it, or a further place of it is on one of the lines.

    What is no finding of a rule always is.
    """
    if finding.code in ("TLN000", "TLN001"):
        return True
    span = finding.span
    if not lines.isdisjoint(range(span.line, max(span.end_line, span.line) + 1)):
        return True
    return any(step.path == finding.path and step.line in lines for step in (*finding.trace, *finding.others))
