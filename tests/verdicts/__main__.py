"""
`python -m tests.verdicts examples`: the verdict on every finding of the rules' own bad examples, counted by rule;
`--rule CODE`: of one rule's, each with its words.
`python -m tests.verdicts cases`: the verdict on every finding of the faulty programs in `tests/cases`, which are true
by their markers and by what their docstrings say torch shows; exits with 1 if one is refuted. Where it is the docstring
that calls what the program defines, as a test does, that call is run behind the program. What only another release of
torch can show, and what claims nothing, is counted apart, too.
`python -m tests.verdicts forcing`: claims forced on correct programs, counted by rule; exits with 1 if one at error or
warning level is confirmed.
`python -m tests.verdicts talk`: the rows of the talk with their verdicts; `--write` puts the table into the page.
`python -m tests.verdicts strangers`: of faulty programs by somebody who knew only the catalogue, the faults that are
found, and the verdicts.
`--suite`: the same with a pytest suite that imports the programs as the driver (`torchlint verify --with`).
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # `expectations`, as in the tests

import expectations
import test_cases

from torchlint.rule import Finding, Holds, Level
from torchlint.syntax.tree import Source
from torchlint.verify.verify import verify_findings

from . import forcing, rows, strangers, suite

STATUSES = ("confirmed", "refuted", "inconclusive")
ELSEWHERE = {
    "that only another release of torch can show": "of an environment with that torch shows it",
    "whose rule says of nothing that a run could show it": "does not say what torch would show",
}
"""What the installed torch cannot confirm, and the words by which a verdict says so."""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.verdicts", description=__doc__)
    parser.add_argument("what", choices=("examples", "cases", "forcing", "talk", "strangers"))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="Only every N-th program.")
    parser.add_argument("--suite", action="store_true", help="Let a suite of pytest drive them.")
    parser.add_argument("--write", action="store_true", help="With talk: write the table into docs/runtime.md.")
    parser.add_argument(
        "--rule", default="", metavar="CODE", help="With examples: those of one rule, all verdicts told."
    )
    options = parser.parse_args()
    if options.what == "talk":
        print(*rows.table(), sep="\n") if not options.write else rows.PAGE.write_text(
            rows.written(rows.PAGE.read_text())
        )
        return 0
    if options.what == "strangers":
        print(*strangers.table(options.every), sep="\n")
        return 0
    judged = suite.judged if options.suite else _by_itself
    if options.what == "examples":
        return examples(options.every, judged, options.rule)
    tables = {"cases": cases, "forcing": false_claims}
    return tables[options.what](options.every, judged)


_Judged = Callable[[Iterable[tuple[str, list[Finding]]]], Iterator[list[Finding]]]


def _by_itself(programs: Iterable[tuple[str, list[Finding]]]) -> Iterator[list[Finding]]:
    for text, findings in programs:
        path = findings[0].path if findings else "program.py"
        yield verify_findings(Source.parse(path, text), findings)


def examples(every: int, judged: _Judged, rule_code: str = "") -> int:
    """The table of the rules' own bad examples."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    programs = []
    rules = [rule for rule in expectations.rules() if rule_code in ("", rule.code)]
    pairs = [(rule, example) for rule in rules for example in rule.bad]
    told = set(STATUSES) if rule_code else {"refuted", "inconclusive"}
    for rule, example in pairs[::every]:
        text = expectations.stripped(example.source)
        report = expectations.lint(text, strict=example.strict)
        programs.append((text, [finding for finding in report.findings if finding.code == rule.code]))
    for found in judged(programs):
        for finding in found:
            _count(table, finding.code, [finding], told)
    _print(table)
    return 0


def cases(every: int, judged: _Judged) -> int:
    """The table of the faulty programs in `tests/cases`: every finding there is true."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    programs = []
    for case in [each for each in test_cases.CASES if each.faulty][::every]:
        strict = case.path.stem in test_cases.STRICT or "# strict: [" in case.program
        report = expectations.lint(expectations.stripped(case.program), strict=strict)
        programs.append((case, list(report.findings)))
    verdicts = judged((called(case), found) for case, found in programs)
    elsewhere: Counter[str] = Counter()
    for (case, _), found in zip(programs, verdicts, strict=True):
        for finding in found:
            _count(table, finding.code, [finding], {"refuted", "inconclusive"}, f"{case.path.stem}: {case.name}: ")
            assert finding.verdict is not None
            elsewhere.update(words for words, said in ELSEWHERE.items() if said in finding.verdict.evidence)
    _print(table)
    for words, count in sorted(elsewhere.items()):
        print(f"of those without a verdict {count} {words}")
    number = {status: sum(counts[status] for counts in table.values()) for status in STATUSES}
    rest = sum(number.values()) - elsewhere.total()
    print(f"of the other {rest} {number['confirmed'] / max(1, rest):.1%} confirmed")
    return int(any(counts["refuted"] for counts in table.values()))


def called(case: test_cases.Case) -> str:
    """The program of a case; where what its docstring says that holds calls what it defines, with that behind it."""
    text = expectations.stripped(case.program)
    if not isinstance(case.shows, Holds):
        return text
    defined = {each.name for each in ast.parse(text).body if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
    calls = [each.func for each in ast.walk(ast.parse(case.shows.expression)) if isinstance(each, ast.Call)]
    named = {each.id for call in calls for each in ast.walk(call) if isinstance(each, ast.Name)}
    return f"{text}{case.shows.expression}\n" if named & defined else text


def false_claims(every: int, judged: _Judged) -> int:
    """The table of claims forced on correct programs."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = 0
    correct = list(forcing.correct())[::every]
    for (name, _), found in zip(correct, judged((text, forcing.forced(text)) for _, text in correct), strict=True):
        for finding in found:
            if finding.verdict is not None and finding.verdict.status == "confirmed":
                print(f"{name}: {finding.span.line}: {finding.claims}", flush=True)
                wrong += finding.level in (Level.ERROR, Level.WARNING)
        for finding in found:
            _count(table, f"{finding.code} {finding.level.value}", [finding], {"confirmed"})
    _print(table)
    return int(wrong > 0)


def _count(table: dict[str, Counter[str]], row: str, findings: list[Finding], told: set[str], where: str = "") -> None:
    for finding in findings:
        assert finding.verdict is not None
        table[row][finding.verdict.status] += 1
        if finding.verdict.status in told:
            words = f"{finding.verdict.status}: {finding.verdict.evidence}"
            print(f"{where}{finding.code} line {finding.span.line}: {words}", flush=True)


def _print(table: dict[str, Counter[str]]) -> None:
    total: Counter[str] = Counter()
    for row, counts in sorted(table.items()):
        total += counts
        print(f"{row:16}", *(f"{status} {counts[status]:<5}" for status in STATUSES))
    number = sum(total.values()) or 1
    print(f"{'all':16}", *(f"{status} {total[status]:<5}" for status in STATUSES), f"of {number}")


if __name__ == "__main__":
    sys.exit(main())
