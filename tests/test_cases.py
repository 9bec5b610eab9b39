"""
The long tail: faulty programs as people write them, and look-alikes that must stay silent.

Each function in `cases/<rule>.py` is one program: its body, after the imports of its file. The lines of findings bear
markers (see `expectations`), for all rules. The docstring of a faulty one begins with what torch shows, `Raises: text`,
`Warns: text` or `Holds: expression`; a program without such a line must run to its end.

Names that start with `FP_` or `FN_` are known wrong answers, a finding too many or one missing; their docstring
says why.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import expectations
import pytest

from torchlint.rule import Holds, Level, Raises, Symptom, Warns
from torchlint.verify.execute import describe_ending, run_program, shows

FOLDER = Path(__file__).parent / "cases"
FILES = sorted(FOLDER.glob("*.py"))
SYMPTOMS: dict[str, type[Raises] | type[Warns] | type[Holds]] = {"Raises": Raises, "Warns": Warns, "Holds": Holds}
Bless = Callable[[Path, str, str], None]


@dataclass(frozen=True)
class Case:
    """One function of a file of cases; its program stands on the same lines as in the file."""

    path: Path
    name: str
    program: str
    shows: Symptom | None
    reason: str

    @property
    def faulty(self) -> bool:
        """Whether the program has a fault that the file's rule is about."""
        return self.shows is not None


def _cases(path: Path) -> Iterator[Case]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        last = function.end_lineno or 0
        program = [""] * last
        for node in imports:
            program[node.lineno - 1] = lines[node.lineno - 1]
        documentation = ast.get_docstring(function) or ""
        body = function.body[1:] if documentation else function.body
        for number in range(_first_line(body[0]), last + 1):
            program[number - 1] = lines[number - 1].removeprefix("    ")
        head, _, rest = documentation.partition("\n")
        kind, _, text_shown = head.partition(": ")
        symptom = SYMPTOMS[kind](text_shown) if kind in SYMPTOMS else None
        reason = rest.strip() if symptom else documentation
        yield Case(path, function.name, "\n".join(program) + "\n", symptom, reason)


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


CASES = [case for path in FILES for case in _cases(path)]
# Programs for rules that are off without `--strict`, or that expect a strict finding, are linted with it.
STRICT = {rule.name.replace("-", "_") for rule in expectations.rules() if rule.level is Level.STRICT}
EVERY_CASE = [pytest.param(case, id=f"{case.path.stem}-{case.name}") for case in CASES]


@pytest.mark.parametrize("case", EVERY_CASE)
def test_flagged_exactly_at_its_markers(case: Case, bless: Bless) -> None:
    noted = expectations.check(case.program, strict=case.path.stem in STRICT or "# strict: [" in case.program)
    if noted is not None:
        before = case.path.read_text(encoding="utf-8")
        lines = before.splitlines()
        for number, (old, new) in enumerate(zip(case.program.splitlines(), noted.splitlines(), strict=True)):
            if old != new:
                lines[number] = f"    {new}"
        bless(case.path, before, "\n".join(lines) + "\n")


@pytest.mark.parametrize("case", EVERY_CASE)
def test_torch_agrees(case: Case) -> None:
    program = expectations.stripped(case.program)
    if case.shows is not None:
        shown, seen = shows(program, case.shows)
        assert shown, seen
    else:
        outcome = run_program(program)
        assert outcome.ending == "ended", describe_ending(outcome)


@pytest.mark.parametrize("case", [param for param in EVERY_CASE if param.values[0].faulty])
def test_fixes_converge_and_cure(case: Case) -> None:
    program = expectations.stripped(case.program)
    result = expectations.fixed(program)
    assert not result.notes
    assert not expectations.fixed(result.text).applied
    if result.applied and not result.report.findings:
        outcome = run_program(result.text)
        checks_now = result.text.count("assert ") > program.count("assert ")
        failed_check = checks_now and outcome.raised is not None and outcome.raised.type == "AssertionError"
        assert outcome.ending == "ended" or failed_check, describe_ending(outcome)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_names_and_markers_go_together(path: Path) -> None:
    code = {rule.name.replace("-", "_"): rule.code for rule in expectations.rules()}[path.stem]
    for case in _cases(path):
        flagged = f" {code}'" in str(expectations.expected(case.program).findings)
        if case.name.startswith("FP_"):
            assert flagged, case.name
            assert not case.faulty, case.name
            assert case.reason, case.name
        elif case.name.startswith("FN_"):
            assert not flagged, case.name
            assert case.faulty, case.name
            assert case.reason, case.name
        else:
            assert flagged == case.faulty, case.name


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_enough_of_both_kinds(path: Path) -> None:
    right = [case for case in _cases(path) if not case.name.startswith(("FP_", "FN_"))]
    assert sum(case.faulty for case in right) >= 4
    assert sum(not case.faulty for case in right) >= 4


def test_every_rule_has_cases() -> None:
    assert [path.stem for path in FILES] == sorted(rule.name.replace("-", "_") for rule in expectations.rules())
