"""The linter's own findings, cross-checked: what it says of the rules' examples and of the scripts for readers."""

from __future__ import annotations

from pathlib import Path

import expectations
import pytest

from torchlint.rule import Example, Level, Rule
from torchlint.syntax.tree import Source
from torchlint.verify.verify import verify_findings

SCRIPTS = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.py"))
EXAMPLES = [
    pytest.param(rule, example, id=f"{expectations.rule_id(rule)}-{number}")
    for rule in expectations.rules()
    for number, example in enumerate(rule.bad, start=1)
]
# What another release than the installed one would have to show: the verdict says which.
ELSEWHERE = {("TLN907", "only a torch before 2.0 lacks it")}


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_examples_of_rules_are_confirmed(rule: Rule, example: Example) -> None:
    program = expectations.stripped(example.source)
    report = expectations.lint(program, strict=True)
    verified = verify_findings(Source.parse(report.path, program), report.findings)
    assert rule.code in [f.code for f in verified]
    for finding in verified:
        assert finding.verdict is not None
        # Other rules' findings may come after an error that is not mended; what claims nothing is not judged.
        evidence = finding.verdict.evidence or ""
        elsewhere = any(finding.code == code and words in evidence for code, words in ELSEWHERE)
        judged = finding.code == rule.code and finding.claims and not elsewhere
        allowed = ("confirmed",) if judged else ("confirmed", "inconclusive")
        assert finding.verdict.status in allowed, (finding, finding.verdict)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_for_readers_are_confirmed(script: Path) -> None:
    program = script.read_text(encoding="utf-8")
    report = expectations.lint(program, strict=True, path=str(script))
    verified = verify_findings(Source.parse(report.path, program), report.findings)
    assert verified
    for finding in verified:
        assert finding.verdict is not None
        assert finding.verdict.status != "refuted", (finding, finding.verdict)
        if finding.level is Level.ERROR:
            assert finding.verdict.status == "confirmed", (finding, finding.verdict)
