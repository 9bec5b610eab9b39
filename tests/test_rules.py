"""Every example of every rule: flagged exactly where it says so, and torch agrees, before and after the fix."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path

import expectations
import pytest

from torchlint.rule import Example, Raises, Rule
from torchlint.verify.execute import describe_ending, run_program, shows

RULES = Path(__file__).parent.parent / "rules"
Bless = Callable[[Path, str, str], None]


def _examples(kind: str) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{expectations.rule_id(rule)}-{kind}-{number}")
        for rule in expectations.rules()
        for number, example in enumerate(getattr(rule, kind), start=1)
    ]


@pytest.mark.parametrize(("rule", "example"), _examples("bad"))
def test_bad_is_flagged_at_its_markers(rule: Rule, example: Example, bless: Bless) -> None:
    assert f" {rule.code}" in str(expectations.expected(example.source).findings)
    noted = expectations.check(example.source, strict=example.strict)
    if noted is not None:
        path = Path(inspect.getfile(type(rule)))
        indent = " " * 12
        bless(path, textwrap.indent(example.source, indent), textwrap.indent(noted, indent))


@pytest.mark.parametrize(("rule", "example"), _examples("bad"))
def test_bad_shows_its_symptom_under_torch(rule: Rule, example: Example) -> None:
    assert example.shows is not None
    shown, seen = shows(expectations.stripped(example.source), example.shows)
    assert shown, seen


@pytest.mark.parametrize(("rule", "example"), _examples("good"))
def test_good_is_clean(rule: Rule, example: Example) -> None:
    assert expectations.stripped(example.source) == example.source, "a good example has no markers"
    report = expectations.lint(example.source, strict=example.strict)
    assert not report.findings, expectations.described(example.source, report.findings)


@pytest.mark.parametrize(("rule", "example"), _examples("good"))
def test_good_runs_under_torch(rule: Rule, example: Example) -> None:
    assert example.shows is None
    outcome = run_program(example.source)
    assert outcome.ending == "ended", describe_ending(outcome)


@pytest.mark.parametrize(("rule", "example"), _examples("bad"))
def test_fix_gives_what_is_promised(rule: Rule, example: Example) -> None:
    program = expectations.stripped(example.source)
    result = expectations.fixed(program, rule.code, strict=example.strict)
    assert not result.notes
    assert (result.text if result.applied else None) == example.fixed
    safe = {
        finding.fix.safe
        for finding in expectations.lint(program, strict=True).findings
        if finding.fix and finding.code == rule.code
    }
    assert rule.fixes in ("both", *({True: "safe", False: "unsafe"}[each] for each in safe)) or not safe


@pytest.mark.parametrize(("rule", "example"), [p for p in _examples("bad") if p.values[1].fixed is not None])
def test_fixed_is_clean_and_cured(rule: Rule, example: Example) -> None:
    assert example.fixed is not None
    assert example.shows is not None
    report = expectations.lint(example.fixed, strict=example.strict)
    assert not report.findings, expectations.described(example.fixed, report.findings)
    if example.fixed_shows is not None:
        shown, seen = shows(example.fixed, example.fixed_shows)
        assert shown, seen
        return
    outcome = run_program(example.fixed)
    checks_now = example.fixed.count("assert ") > example.source.count("assert ")
    if not (checks_now and outcome.raised is not None and outcome.raised.type == "AssertionError"):
        assert outcome.ending == "ended", describe_ending(outcome)
    shown, seen = shows(example.fixed, example.shows)
    assert not shown, seen


@pytest.mark.parametrize("rule", [pytest.param(rule, id=expectations.rule_id(rule)) for rule in expectations.rules()])
def test_a_rule_shows_what_it_declares(rule: Rule) -> None:
    fixed = [example.fixed is not None for example in rule.bad]
    assert any(fixed) == (rule.fixes != "none")
    raises = [isinstance(example.shows, Raises) for example in rule.bad]
    levels = {word.split()[0] for example in rule.bad for word in str(expectations.expected(example.source)).split("'")}
    assert rule.level.value in levels
    assert "error" not in levels or any(raises) or rule.code in ("TLN212", "TLN907")  # one raises on an older torch
