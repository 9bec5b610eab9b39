"""
Smells that several files have in copies of one piece of code: told in the first of them, the others are named there.

Takes findings out of results and adds to messages; errors and warnings stay, whose every place has to be mended.
Reads no file: asks for lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from torchlint.finding import Finding, Level, TraceLine
from torchlint.results import FileOutcome, RunResult
from torchlint.syntax.text import Span

if TYPE_CHECKING:
    from torchlint.report.fingerprint import LineOf

_DEFINED = re.compile(r"([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_FAR = 400
"""Lines above a place that are searched for the function that it is in."""
_NAMED = 3
"""Copies that are named."""


class _Place(NamedTuple):
    """What stands for a place wherever its code is copied to: the rule, the function, the lines around it."""

    code: str
    function: str
    context: str


class Copies:
    """
    What has been told so far, of files in their order.

    Parameters
    ----------
    line_of
        The lines of files.
    """

    def __init__(self, line_of: LineOf) -> None:
        self._line_of = line_of
        self._told: dict[_Place, Finding] = {}
        self.named: dict[int, tuple[Finding, list[Finding]]] = {}
        """By identity: a finding, and those that are copies of it."""

    def without(self, outcome: FileOutcome) -> FileOutcome:
        """A file's outcome without the smells all of whose places are copies of what an earlier file has."""
        findings = outcome.report.findings
        if not any(each.level is Level.SMELL for each in findings):
            return outcome
        kept: list[Finding] = []
        new: list[tuple[_Place, Finding]] = []
        for each in findings:
            places = self._places(each) if each.level is Level.SMELL and each.cell is None else []
            first = self._told.get(places[0]) if places else None
            if first is not None and all(place in self._told for place in places):
                self.named.setdefault(id(first), (first, []))[1].append(each)
            else:
                kept.append(each)
                new += [(place, each) for place in places]
        self._told.update((place, each) for place, each in new if place not in self._told)
        if len(kept) == len(findings):
            return outcome
        return replace(outcome, report=replace(outcome.report, findings=tuple(kept)))

    def _places(self, finding: Finding) -> list[_Place]:
        """All places of a finding; none where one of them stands in no function."""
        from torchlint.report.fingerprint import of_findings  # hashes, which few runs need

        at = [finding.span, *(Span(each.line, each.column, each.end_line, each.end_column) for each in finding.others)]
        each_alone = [replace(finding, span=span, others=()) for span in at]
        functions = [self._function(finding.path, span.line) for span in at]
        if not all(functions):
            return []
        prints = of_findings(each_alone, self._line_of)
        return [_Place(finding.code, name, each.context) for name, each in zip(functions, prints, strict=True)]

    def _function(self, path: str, line: int) -> str:
        """The names of the functions and classes around a line, as they are indented; "" if there are none."""
        names: list[str] = []
        margin: int | None = None
        for number in range(line, max(line - _FAR, 0), -1):
            text = self._line_of(path, number, None)
            if text is None:
                return ""
            if not text.strip():
                continue
            indented = len(text) - len(text.lstrip())
            found = _DEFINED.match(text) if margin is None or indented < margin else None
            if found is not None and number != line:
                names.append(found[2])
            if margin is None or indented < margin:
                margin = indented
            if margin == 0:
                break
        return ".".join(reversed(names))


def told_once(result: RunResult, line_of: LineOf) -> RunResult:
    """A run in which what several files have in copies of one piece of code is told in the first of them."""
    with_smells = sum(any(f.level is Level.SMELL for f in each.report.findings) for each in result.outcomes)
    if with_smells < 2:
        return result
    copies = Copies(line_of)
    outcomes = [copies.without(each) for each in result.outcomes]
    if not copies.named:
        return result
    return replace(result, outcomes=tuple(_naming(each, copies) for each in outcomes))


def counted(copies: Copies) -> str:
    """What was left out where no message could name it, since it was printed before."""
    left = [each for _, found in copies.named.values() for each in found]
    places = [f"{each.path}:{each.span.line}" for each in left]
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return f"{len(left)} more in copies of the same code: {', '.join(places[:_NAMED])}{more}"


def _naming(outcome: FileOutcome, copies: Copies) -> FileOutcome:
    findings = [
        _with_copies(each, copies.named[id(each)][1]) if id(each) in copies.named else each
        for each in outcome.report.findings
    ]
    return replace(outcome, report=replace(outcome.report, findings=tuple(findings)))


def _with_copies(first: Finding, copies: Sequence[Finding]) -> Finding:
    places = [f"{each.path}:{each.span.line}" for each in copies]
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    spans = [(each.path, each.span) for each in copies]
    others = [TraceLine(path, at.line, at.column, "", at.end_line, at.end_column) for path, at in spans]
    many = "a copy is" if len(places) == 1 else "copies are"
    message = f"{first.message}; {many} in {', '.join(places[:_NAMED])}{more}"
    return replace(first, message=message, others=(*first.others, *others))
