"""
Notebooks: linted and fixed as one text, findings by cell.

Inside, lines are those of the joined text; what leaves this module names a cell and a line in it, and what
comes back (`in_text`) is turned round. The mapping itself is `syntax.cells`. Prints nothing, writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from torchlint.lint import engine, fixpoint, silencing
from torchlint.lint.registry import INTERNAL_ERROR, INVALID_SYNTAX, Registry, Selection
from torchlint.lint.suppressions import name_rules
from torchlint.results import NEEDLE, FileReport
from torchlint.rule import Finding, FindingFix, TextEdit, TraceLine
from torchlint.syntax.cells import Cells
from torchlint.syntax.notebook import Notebook
from torchlint.syntax.text import Decoded, Span

_LINES = re.compile(r"\b(?:line (\d+)|lines (\d+) to (\d+))")


def check(path: str, notebook: Notebook, registry: Registry, selection: Selection) -> FileReport:
    """
    Lint a notebook, its cells in order.

    Parameters
    ----------
    path
        As shown to the user.
    notebook
        The notebook (`Notebook.read`).
    registry, selection
        As for `engine.check_bytes`.
    """
    cells = notebook.cells
    return _placed(_check(path, cells, registry, selection), cells)


def fix(
    path: str, notebook: Notebook, registry: Registry, selection: Selection, *, unsafe: bool
) -> tuple[fixpoint.Fixed, list[tuple[int, str, str]]]:
    """
    Fix a notebook until nothing changes.

    Returns
    -------
    Fixed
        With the text of the whole notebook, and findings by cell.
    list
        The cells that changed: number, text before, text after.
    """
    cells = notebook.cells

    def checked(text: str) -> FileReport:
        return _check(path, Cells.of(_sources(cells, text)), registry, selection)

    fixed = fixpoint.fix(Decoded(cells.text), checked, unsafe=unsafe, report=_check(path, cells, registry, selection))
    changed = list(cells.changed(fixed.text))
    text = notebook.with_texts((number, after) for number, _, after in changed)
    now = Cells.of(_sources(cells, fixed.text))
    notes = tuple(in_cells(note, now) for note in fixed.notes)
    return replace(fixed, text=text, report=_placed(fixed.report, now), notes=notes), changed


def silence(
    path: str, notebook: Notebook, registry: Registry, selection: Selection
) -> tuple[silencing.Silenced, list[tuple[int, str, str]]]:
    """
    Silence all findings of a notebook; as `fix`. What only IPython understands takes no comment.
    """
    cells = notebook.cells
    if cells.broken:
        return silencing.Silenced(notebook.cells.text, check(path, notebook, registry, selection)), []

    def checked(text: str) -> FileReport:
        now = Cells.of(_sources(cells, text))
        report = _check(path, now, registry, selection)
        return replace(report, findings=tuple(item for item in report.findings if not now.is_hidden(item.span.line)))

    silenced = silencing.silence(cells.text, checked(cells.text), checked)
    changed = list(cells.changed(silenced.text))
    now = Cells.of(_sources(cells, silenced.text))
    report = _placed(_check(path, now, registry, selection), now)
    text = notebook.with_texts((number, after) for number, _, after in changed)
    return replace(silenced, text=text, report=report), changed


def in_text(finding: Finding, cells: Cells) -> Finding:
    """
    A finding that names cells, with the lines of the joined text instead.

    Raises
    ------
    KeyError
        if the notebook has no such cell.
    """

    def moved(span: Span, cell: int | None) -> Span:
        start, end = cells.line(cell, span.line), cells.line(cell, span.end_line)
        return Span(start, span.column, end, span.end_column)

    def joined(step: TraceLine) -> TraceLine:
        if step.cell is None:
            return step
        end = cells.line(step.cell, step.end_line) if step.end_line else 0
        return replace(step, cell=None, line=cells.line(step.cell, step.line), end_line=end)

    trace, others = tuple(map(joined, finding.trace)), tuple(map(joined, finding.others))
    cure = finding.fix
    if cure is not None:
        edits = tuple(TextEdit(moved(edit.span, edit.cell), edit.replacement) for edit in cure.edits)
        cure = replace(cure, edits=edits)
    span = moved(finding.span, finding.cell)
    return replace(finding, cell=None, span=span, trace=trace, fix=cure, others=others)


def in_file(finding: Finding, notebook: Notebook) -> Finding:
    """A finding that names cells, with the lines of the notebook's JSON instead: those that other tools count."""
    if finding.cell is None:
        return finding
    first = notebook.in_file(finding.cell, finding.span.line)
    last = notebook.in_file(finding.cell, max(finding.span.end_line, finding.span.line))
    trace, others = (
        tuple(
            step if step.cell is None else replace(step, cell=None, line=notebook.in_file(step.cell, step.line))
            for step in steps
        )
        for steps in (finding.trace, finding.others)
    )
    return replace(finding, cell=None, span=Span(first, 1, last, 1), trace=trace, others=others)


def in_cells(message: str, cells: Cells) -> str:
    """A sentence that speaks of lines of the joined text, with those of the cells."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in found.groups() if number]
        (first, start), (last, end) = cells.place(numbers[0]), cells.place(numbers[-1])
        if len(numbers) == 1:
            return f"line {start} of cell {first}"
        if first == last:
            return f"lines {start} to {end} of cell {first}"
        return f"line {start} of cell {first} to line {end} of cell {last}"

    return _LINES.sub(named, message)


def _sources(cells: Cells, text: str) -> list[tuple[int, str]]:
    """All cells as they are in a text made from the joined one by edits."""
    after = {number: now for number, _, now in cells.changed(text)}
    return [(number, after.get(number, source)) for number, source in cells.sources]


def _check(path: str, cells: Cells, registry: Registry, selection: Selection) -> FileReport:
    if NEEDLE.decode() in cells.text or name_rules(cells.text, registry):
        report = engine.check_text(path, cells.text, registry, selection)
    else:
        report = FileReport(path, mentions_torch=bool(cells.broken))
    return replace(report, findings=tuple(_fixable(finding, cells) for finding in report.findings))


def _fixable(finding: Finding, cells: Cells) -> Finding:
    """A fix that would change what only IPython understands, or more than one cell at a time, is none."""
    cure = finding.fix
    if cure is None or all(_inside(edit.span, cells) for edit in cure.edits):
        return finding
    return replace(finding, fix=None)


def _inside(span: Span, cells: Cells) -> bool:
    first, last = span.line, span.end_line - (span.end_column == 1 and span.end_line > span.line)
    if any(cells.is_hidden(line) for line in range(first, last + 1)):
        return False
    return first == span.end_line or cells.place(first)[0] == cells.place(last)[0]


def _placed(report: FileReport, cells: Cells) -> FileReport:
    findings = [*(_by_cell(finding, cells) for finding in report.findings), *_broken(report.path, cells)]
    if cells.broken:
        findings.sort(key=lambda item: (item.cell or 0, item.span, item.code))
    cell, line = cells.place(report.cut[0]) if report.cut[0] else (0, 0)
    followed = report.followed and not cells.broken
    return replace(report, findings=tuple(findings), followed=followed, cut=(line, cell or 0))


def _broken(path: str, cells: Cells) -> Iterator[Finding]:
    for each in cells.broken:
        place = Span(each.line, each.column, each.line, each.column)
        yield replace(engine.problem(path, INVALID_SYNTAX, each.message, place), cell=each.cell)


def _by_cell(finding: Finding, cells: Cells) -> Finding:
    cell, span = _span(finding.span, cells)
    trace = tuple(_step(step, cells) if step.path == finding.path else step for step in finding.trace)
    cure = finding.fix
    if cure is not None:
        edits = []
        for edit in cure.edits:
            number, place = _span(edit.span, cells)
            edits.append(TextEdit(place, edit.replacement, number))
        cure = FindingFix(in_cells(cure.title, cells), cure.safe, tuple(edits))
    # a line that an internal error names is one of torchlint's own files
    message = finding.message if finding.code == INTERNAL_ERROR.code else in_cells(finding.message, cells)
    others = tuple(_step(each, cells) for each in finding.others)
    return replace(finding, cell=cell, span=span, message=message, trace=trace, fix=cure, others=others)


def _span(span: Span, cells: Cells) -> tuple[int | None, Span]:
    """A range, which lies in one cell or ends where the next one begins."""
    cell, line = cells.place(span.line)
    return cell, Span(line, span.column, line + span.end_line - span.line, span.end_column)


def _step(step: TraceLine, cells: Cells) -> TraceLine:
    cell, line = cells.place(step.line)
    end = step.end_line and line + step.end_line - step.line
    return replace(step, cell=cell, line=line, end_line=end)
