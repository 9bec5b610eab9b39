"""
The report for people: each finding with its source, the steps that lead to it, its fix and torch's verdict.

See `torchlint.report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import click

from torchlint.finding import Finding, Level, TraceLine
from torchlint.report import Style
from torchlint.report.frame import Mark, frame
from torchlint.results import RunResult

COLORS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.SMELL: "cyan", Level.STRICT: "blue"}
_NOUNS = {Level.STRICT: "strict finding"}
VERDICT_COLORS = {"confirmed": "green", "refuted": "yellow", "inconclusive": "bright_black"}


def body(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """Each finding as a block."""
    for finding in findings:
        yield "".join(f"{line}\n" for line in block(finding, style)) + "\n"


def closing(run: RunResult, style: Style) -> Iterator[str]:
    """The summary."""
    if not style.quiet:
        yield from (f"{line}\n" for line in summary(run))


def headline(finding: Finding, style: Style) -> str:
    """`path:line:column: level[CODE] message`; of a notebook, `path:cell 3:line:column`."""
    place = f"{_file(finding.path, finding.cell)}:{finding.span.line}:{finding.span.column}"
    kind = f"{finding.level.value}[{finding.code}]"
    if style.color:
        place = click.style(place, bold=True)
        kind = click.style(kind, fg=COLORS[finding.level], bold=True)
    return f"{place}: {kind} {_one_line(finding.message)}"


def block(finding: Finding, style: Style) -> Iterator[str]:
    """The lines of one finding."""

    def paint(text: str, role: str) -> str:
        if not style.color:
            return text
        if role == "main":
            return click.style(text, fg=COLORS[finding.level], bold=True)
        return click.style(text, fg="blue" if role == "gutter" else "bright_black", bold=role == "gutter")

    yield headline(finding, style)
    steps = finding.trace if style.trace else ()
    gutter = len(str(max((finding.span.line, *(step.line for step in steps))))) + 1
    marks = _marks(finding, steps)
    for (path, cell), own in marks.items():
        if (path, cell) != (finding.path, finding.cell):
            yield f"{' ' * gutter}{paint(':::', 'gutter')} {_file(path, cell)}:{own[0].line}:{own[0].column}"
        lines = partial(_line, style, path, cell)
        yield from frame(own, lines, gutter, paint)
    equals = f"{' ' * gutter} {paint('=', 'gutter')}"
    if finding.fix is not None:
        how = "--fix" if finding.fix.safe else "unsafe; --unsafe-fixes"
        yield f"{equals} fix: {_one_line(finding.fix.title)} ({how})"
    if finding.verdict is not None:
        status: str = finding.verdict.status
        if style.color:
            status = click.style(status, fg=VERDICT_COLORS[status], bold=True)
        evidence = _one_line(finding.verdict.evidence)
        yield f"{equals} torch: {status}" + (f": {evidence}" if evidence else "")


def _file(path: str, cell: int | None) -> str:
    return path if cell is None else f"{path}:cell {cell}"


def _line(style: Style, path: str, cell: int | None, number: int) -> str | None:
    return style.line(path, number, cell)


def _marks(finding: Finding, steps: tuple[TraceLine, ...]) -> dict[tuple[str, int | None], list[Mark]]:
    """By file or cell, the finding's first. Steps are numbered where reading downwards is not reading in order."""
    span = finding.span
    home = (finding.path, finding.cell)
    places = [(step.line, step.column) for step in steps]
    numbered = len(steps) > 1 and (places != sorted(places) or any((step.path, step.cell) != home for step in steps))
    main = ""
    marks: dict[tuple[str, int | None], list[Mark]] = {home: []}
    for number, step in enumerate(steps, start=1):
        label = f"{number}. {_one_line(step.message)}" if numbered else _one_line(step.message)
        own = (step.path, step.cell)
        if not main and own == home and (step.line, step.column) == (span.line, span.column):
            main = label
            continue
        marks.setdefault(own, []).append(Mark(step.line, step.column, step.end_line, step.end_column, label))
    marks[home].append(Mark(span.line, span.column, span.end_line, span.end_column, main, main=True))
    return marks


def summary(run: RunResult) -> Iterator[str]:
    """What was found, left out and fixed, in a few lines."""
    findings = run.findings
    by_level = Counter(finding.level for finding in findings)
    files = _count(run.files, "file")
    if findings:
        kinds = [_count(by_level[level], _NOUNS.get(level, level.value)) for level in Level if by_level[level]]
        where = len({finding.path for finding in findings})
        yield f"Found {_listed(kinds)} in {where} of {files}." if run.files > 1 else f"Found {_listed(kinds)}."
    else:
        yield f"No {'new ' if run.known else ''}findings in {files}."
    if run.known:
        yield f"{_count(run.known, 'known finding')} left out: the baseline has {'them' if run.known > 1 else 'it'}."
    if run.elsewhere:
        others = f"{_count(run.elsewhere, 'finding')} on lines that have not changed"
        yield f"{others} {'are' if run.elsewhere > 1 else 'is'} left out."
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    safe = sum(fix.safe or run.unsafe_fixes for fix in fixes)
    tried = run.fixes_tried
    offers = [f"{_count(safe, 'fix', 'fixes')} not applied" if tried else f"{safe} fixable with --fix"] if safe else []
    if len(fixes) > safe:
        offers.append(f"{len(fixes) - safe} {'more ' if safe and not tried else 'fixable '}with --fix --unsafe-fixes")
    done = [f"{_count(run.fixed, 'fix', 'fixes')} applied"] if run.fixed else []
    if done or offers:
        yield f"{'; '.join([*done, ', '.join(offers)] if offers else done)}."
    if run.held_back:
        yield f"At least {_count(run.held_back, 'strict finding')} held back; see them all with --strict."


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
