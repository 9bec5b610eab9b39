"""
A rule's own examples, linted and run: what somebody who writes a rule checks it with, in this repository or elsewhere.

    from torchlint.verify.examples import problems

    def test_my_rule():
        assert problems(MyRule) == []

Lints with that rule alone; other rules' markers do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from torchlint.config import Config, Overrides
from torchlint.lint import fixpoint
from torchlint.lint.engine import FileReport, check_text
from torchlint.lint.registry import Registry
from torchlint.rule import Example, Rule
from torchlint.syntax.tree import Source, decode
from torchlint.verify.execute import describe_ending, run_program, shows
from torchlint.verify.verify import verify_findings

_MARKER = re.compile(r" *# (error|warning|smell|strict): \[([^\]]*)\]")
_NOTE = re.compile(r" *# note: .*")


def problems(kind: type[Rule], *, run: bool = True) -> list[str]:
    """
    What is wrong with a rule's examples; nothing, if all is well.

    Each bad example has its findings exactly where its markers are, shows under torch what it says, and each of its
    findings that claims something is confirmed; with the fix it is what `fixed` says, without findings and without the
    symptom. A good example has no finding, and runs.

    Parameters
    ----------
    kind
        The rule.
    run
        Whether programs are run; without torch they cannot be.

    Raises
    ------
    TorchMissing
        if they are to be run and torch cannot be imported.
    """
    rule = kind()
    found = [] if rule.bad and rule.good else ["it has no bad example, or no good one"]
    for number, example in enumerate(rule.bad, start=1):
        found += [f"bad example {number}: {words}" for words in _bad(rule, example, run=run)]
    for number, example in enumerate(rule.good, start=1):
        found += [f"good example {number}: {words}" for words in _good(rule, example, run=run)]
    return found


def _bad(rule: Rule, example: Example, *, run: bool) -> Iterator[str]:
    text = _stripped(example.source)
    report = _linted(rule, text)
    yield from _differences(
        _expected(rule, example.source), [f"{f.span.line} {f.level.value}" for f in report.findings]
    )
    fixed = fixpoint.fix(decode(text.encode()), lambda new: _linted(rule, new), unsafe=True, report=report)
    changed = fixed.text if fixed.applied else None
    if changed != example.fixed:
        yield f"`fixed` is {example.fixed!r}, and the fix gives {changed!r}"
    elif fixed.applied and fixed.report.findings:
        yield f"after the fix there is still a finding in line {fixed.report.findings[0].span.line}"
    if not run:
        return
    if example.shows is None:
        yield "it does not say what torch shows (`shows`)"
        return
    shown, seen = shows(text, example.shows)
    if not shown:
        yield f"torch does not show {example.shows}: {seen}"
    for finding in verify_findings(Source.parse("example.py", text), report.findings):
        if finding.claims and finding.verdict is not None and finding.verdict.status != "confirmed":
            yield f"its claim is {finding.verdict.status} in line {finding.span.line}: {finding.verdict.evidence}"
    if example.fixed is not None:
        yield from _cured(example, example.fixed)


def _cured(example: Example, fixed: str) -> Iterator[str]:
    assert example.shows is not None
    if example.fixed_shows is not None:
        shown, seen = shows(fixed, example.fixed_shows)
        if not shown:
            yield f"after the fix torch does not show {example.fixed_shows}: {seen}"
        return
    outcome = run_program(fixed)
    if outcome.ending != "ended":
        yield f"after the fix the program {describe_ending(outcome)}"
    elif shows(fixed, example.shows)[0]:
        yield f"after the fix torch still shows {example.shows}"


def _good(rule: Rule, example: Example, *, run: bool) -> Iterator[str]:
    for finding in _linted(rule, example.source).findings:
        yield f"there is a finding in line {finding.span.line}: {finding.message}"
    if run:
        outcome = run_program(example.source)
        if outcome.ending != "ended":
            yield f"the program {describe_ending(outcome)}"


def _linted(rule: Rule, text: str) -> FileReport:
    registry = Registry((rule,))
    overrides = Overrides(select=(rule.code,), strict=True, preview=True)
    return check_text("example.py", text, registry, registry.select(Config(), overrides))


def _stripped(text: str) -> str:
    return "".join(_MARKER.sub("", _NOTE.sub("", line)) for line in text.splitlines(keepends=True))


def _expected(rule: Rule, text: str) -> list[str]:
    return [
        f"{number} {level}"
        for number, line in enumerate(text.splitlines(), start=1)
        for level, codes in _MARKER.findall(line)
        for code in codes.split(",")
        if code.strip() == rule.code
    ]


def _differences(expected: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    for place in sorted(set(expected) - set(found)):
        yield f"line {place.replace(' ', ': no ', 1)} is found"
    for place in sorted(set(found) - set(expected)):
        yield f"line {place.replace(' ', ': ', 1)} is found, and no marker says so"
