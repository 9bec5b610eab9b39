"""
One page for one run that needs nothing else: findings with their source and, drawn beside it, the steps of each trace.

See `torchlint.report`. Everything is in the page; the little script in it only filters. Opened from disk, sent by mail,
or kept by CI as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

import torchlint
from torchlint.finding import Finding, Level
from torchlint.report import Style
from torchlint.report.html_page import SCRIPT, STYLE
from torchlint.report.text import summary
from torchlint.results import RunResult

AROUND = 2
"""Lines shown above and below what matters."""
LONGEST_GAP = 12
"""Lines between two steps that are shown; of more, those near the steps."""


def render(run: RunResult, style: Style) -> Iterator[str]:
    """The page."""
    findings = run.findings
    said = list(summary(run))
    yield "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
    yield f"<title>torchlint: {escape(said[0])}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    yield f"<header><h1>torchlint</h1><p>{'<br>'.join(map(escape, said))}</p></header>\n"
    yield from _filters(findings)
    yield "<main>\n"
    for path, own in groupby(findings, key=lambda finding: finding.path):
        members = list(own)
        yield f"<section class='file' data-path='{_attribute(path)}'><h2>{escape(path)}</h2>\n"
        for finding in members:
            yield from _card(finding, style)
        yield "</section>\n"
    if not findings:
        yield "<p class='none'>Nothing to report.</p>\n"
    yield "<p class='none' id='nothing' hidden>Nothing matches the filter.</p>\n"
    yield f"</main>\n<footer>torchlint {escape(torchlint.__version__)}</footer>\n<script>{SCRIPT}</script>\n"
    yield "</body>\n</html>\n"


def _filters(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    rules = Counter((finding.code, finding.name) for finding in findings)
    files = Counter(finding.path for finding in findings)
    levels = Counter(finding.level for finding in findings)
    yield "<form id='filters' aria-label='Filter findings'>\n"
    yield "<label>Rule <select name='code'><option value=''>all rules</option>"
    for (code, name), count in sorted(rules.items()):
        yield f"<option value='{_attribute(code)}'>{escape(code)} {escape(name)} ({count})</option>"
    yield "</select></label>\n<label>File <select name='path'><option value=''>all files</option>"
    for path, count in sorted(files.items()):
        yield f"<option value='{_attribute(path)}'>{escape(path)} ({count})</option>"
    yield "</select></label>\n<fieldset><legend>Level</legend>"
    for level in Level:
        if levels[level]:
            box = f"<input type='checkbox' name='level' value='{level.value}' checked>"
            yield f"<label class='{level.value}'>{box} {level.value} ({levels[level]})</label>"
    yield "</fieldset>\n<label>Text <input type='search' name='text' placeholder='in message or source'></label>\n"
    yield f"<output id='shown'>{len(findings)} shown</output>\n</form>\n"


def _card(finding: Finding, style: Style) -> Iterator[str]:
    span = finding.span
    where = f"cell {finding.cell}, " if finding.cell is not None else ""
    level = finding.level.value
    yield f"<article class='{level}' data-code='{_attribute(finding.code)}' data-level='{level}'>\n"
    yield f"<h3><span class='level'>{level}</span> <span class='code'>{escape(finding.code)}</span> "
    yield f"{_prose(finding.message)}</h3>\n"
    yield f"<p class='where'>{escape(finding.name)} · {where}line {span.line}, column {span.column}</p>\n"
    own = (finding.path, finding.cell)
    for path, cell in dict.fromkeys((own, *((step.path, step.cell) for step in finding.trace))):
        if (path, cell) != own:
            where = escape(path) if path != finding.path else f"cell {cell}"
            yield f"<p class='where'>in {where}</p>\n"
        yield from _listing(finding, path, cell, style)
    if finding.conditions:
        listed = "; ".join(f"<code>{escape(each.expression)}</code>" for each in finding.conditions)
        yield f"<p class='note'>It rests on: {listed}</p>\n"
    if finding.fix is not None:
        how = "safe, --fix" if finding.fix.safe else "unsafe, --fix --unsafe-fixes"
        yield f"<p class='note'><b>Fix</b> {_prose(finding.fix.title)} <small>({how})</small></p>\n"
    if finding.verdict is not None:
        status = finding.verdict.status
        evidence = f": {_prose(finding.verdict.evidence)}" if finding.verdict.evidence else ""
        yield f"<p class='note verdict {status}'><b>torch</b> {status}{evidence}</p>\n"
    yield "</article>\n"


def _listing(finding: Finding, path: str, cell: int | None, style: Style) -> Iterator[str]:
    """The source lines that matter, and beside them a rail from the first step to the last one."""
    steps: dict[int, list[tuple[int, str]]] = {}
    for number, step in enumerate(finding.trace, start=1):
        if (step.path, step.cell) == (path, cell):
            steps.setdefault(step.line, []).append((number, step.message))
    own = (path, cell) == (finding.path, finding.cell)
    lines = sorted({*steps, *([finding.span.line] if own else [])})
    first, last = lines[0], lines[-1]
    yield "<div class='listing'>\n"
    previous = 0
    for number in _shown(lines):
        text = style.line(path, number, cell)
        if text is None:
            continue
        if previous and number > previous + 1:
            rail = " rail" if steps and first < number <= last else ""
            yield f"<div class='row gap{rail}'><i></i><pre>⋮</pre><span></span></div>\n"
        previous = number
        main = own and number == finding.span.line
        classes = ["row"]
        if steps and first <= number <= last:
            classes.append("rail")
            classes += [name for name, at in (("top", first), ("bottom", last)) if at == number]
        if main:
            classes.append("main")
        labels = "".join(
            f"<em><b>{which}</b> {_prose(message)}</em>" for which, message in sorted(steps.get(number, ()))
        )
        if number in steps:
            classes.append("step")
        elif main and steps:
            labels = "<em class='here'><b></b>reported here</em>"
        marked = _marked(text, finding) if main else escape(text)
        yield f"<div class='{' '.join(classes)}'><i>{number}</i><pre>{marked or ' '}</pre><span>{labels}</span></div>\n"
    yield "</div>\n"


def _shown(lines: Sequence[int]) -> list[int]:
    """The lines, those around them, and what lies between two of them if that is not much."""
    shown: set[int] = set()
    for line in lines:
        shown.update(range(max(1, line - AROUND), line + AROUND + 1))
    for line, following in pairwise(lines):
        if following - line <= LONGEST_GAP:
            shown.update(range(line, following))
    return sorted(shown)


def _marked(text: str, finding: Finding) -> str:
    span = finding.span
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(text)
    end = max(end, start + 1)
    return f"{escape(text[:start])}<mark>{escape(text[start:end])}</mark>{escape(text[end:])}"


def _prose(text: str) -> str:
    """A message, with what stands in backquotes as code."""
    pieces = escape(" ".join(text.split())).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))


def _attribute(text: str) -> str:
    return escape(text, quote=True)
