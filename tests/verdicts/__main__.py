"""
`python -m tests.verdicts examples`: the verdict on every finding of the rules' own bad examples, counted by rule.
`python -m tests.verdicts forcing`: claims forced on correct programs, counted by rule; exits with 1 if one at error or
warning level is confirmed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # `expectations`, as in the tests

import expectations

from torchlint.rule import Finding, Level
from torchlint.syntax.tree import Source
from torchlint.verify.verify import verify_findings

from . import forcing

STATUSES = ("confirmed", "refuted", "inconclusive")


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.verdicts", description=__doc__)
    parser.add_argument("what", choices=("examples", "forcing"))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="Only every N-th program.")
    options = parser.parse_args()
    return examples(options.every) if options.what == "examples" else false_claims(options.every)


def examples(every: int) -> int:
    """The table of the rules' own bad examples."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    programs = [(rule, example) for rule in expectations.rules() for example in rule.bad]
    for rule, example in programs[::every]:
        text = expectations.stripped(example.source)
        report = expectations.lint(text, strict=example.strict)
        own = [finding for finding in report.findings if finding.code == rule.code]
        _count(
            table, f"{rule.code}", verify_findings(Source.parse(report.path, text), own), {"refuted", "inconclusive"}
        )
    _print(table)
    return 0


def false_claims(every: int) -> int:
    """The table of claims forced on correct programs."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = 0
    for name, text in list(forcing.correct())[::every]:
        found = forcing.verdicts(text)
        for finding in found:
            if finding.verdict is not None and finding.verdict.status == "confirmed":
                print(f"{name}: {finding.span.line}: {finding.claims}", flush=True)
                wrong += finding.level in (Level.ERROR, Level.WARNING)
        for finding in found:
            _count(table, f"{finding.code} {finding.level.value}", [finding], {"confirmed"})
    _print(table)
    return int(wrong > 0)


def _count(table: dict[str, Counter[str]], row: str, findings: list[Finding], told: set[str]) -> None:
    for finding in findings:
        assert finding.verdict is not None
        table[row][finding.verdict.status] += 1
        if finding.verdict.status in told:
            print(f"{finding.code} line {finding.span.line}: {finding.verdict.status}: {finding.verdict.evidence}")


def _print(table: dict[str, Counter[str]]) -> None:
    total: Counter[str] = Counter()
    for row, counts in sorted(table.items()):
        total += counts
        print(f"{row:16}", *(f"{status} {counts[status]:<5}" for status in STATUSES))
    number = sum(total.values()) or 1
    print(f"{'all':16}", *(f"{status} {total[status]:<5}" for status in STATUSES), f"of {number}")


if __name__ == "__main__":
    sys.exit(main())
