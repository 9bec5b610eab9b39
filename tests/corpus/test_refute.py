"""Refutation: what the recorder sees, what a run says of a finding, which outcomes count as changed. No network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from corpus.packages import is_kept_for_later
from corpus.refute import suite, symptoms
from corpus.refute.__main__ import EXPLAINED, Result, table
from corpus.refute.suite import Subject, load, recorded
from corpus.refute.symptoms import A_VALUE, ABSENT, NOT_RUN, SHOWN, judged, unsafe

TESTED = """\
import warnings

def raises(number):
    if number:
        raise RuntimeError("modified by an inplace operation")
    return 1

def warns():
    warnings.warn("Implicit dimension choice for softmax", stacklevel=2)
"""
TESTS = """\
import pytest
import tested

def test_caught():
    with pytest.raises(RuntimeError):
        tested.raises(1)

def test_warning():
    tested.warns()

def test_fails():
    assert tested.__name__ == "other"
"""


def _recorded(tree: Path, files: list[str] | None) -> dict[str, Any]:
    (tree / "tested.py").write_text(TESTED)
    (tree / "test_it.py").write_text(TESTS)
    (tree / "test_broken.py").write_text("import is_not_there\n")
    subject = Subject("p", "1", ".", ["test_it.py", "test_broken.py"], [])
    return recorded(subject, tree, Path(sys.executable), tree / "out" / "record.json", files, 60)


def test_the_recorder_sees_lines_caught_exceptions_warnings_and_outcomes(tmp_path: Path) -> None:
    seen = _recorded(tmp_path, ["tested.py"])
    assert {4, 5, 9} <= set(seen["lines"]["tested.py"])
    assert 6 not in seen["lines"]["tested.py"]
    assert "RuntimeError: modified by an inplace operation" in seen["met"]
    assert "UserWarning: Implicit dimension choice for softmax" in seen["met"]
    ends = {test.partition("::")[2] or test: end for test, end in seen["outcomes"].items()}
    assert ends == {
        "test_caught": "passed",
        "test_warning": "passed",
        "test_fails": "failed",
        "test_broken.py": "not collected",
    }


def test_without_files_only_outcomes_are_recorded(tmp_path: Path) -> None:
    seen = _recorded(tmp_path, None)
    assert seen["lines"] == {}
    assert len(seen["outcomes"]) == 4


def test_when_the_time_is_up_no_test_is_begun(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_one():\n    pass\n")
    variables = {
        **os.environ,
        "RECORDER_OUT": str(tmp_path / "record.json"),
        "RECORDER_ROOT": str(tmp_path),
        "RECORDER_SECONDS": "-1",
        "PYTHONPATH": str(Path(suite.__file__).parent),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider", "test_it.py"]
    subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True)
    outcomes = json.loads((tmp_path / "record.json").read_text())["outcomes"]
    assert outcomes.keys() <= {"test_it.py::test_one"}


def _finding(code: str, line: int, last: int, *trace: tuple[str, int]) -> dict[str, Any]:
    steps = [{"path": path, "line": number} for path, number in trace]
    return {"path": "a.py", "line": line, "end_line": last, "code": code, "trace": steps}


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        (_finding("TLN201", 3, 3), SHOWN),
        (_finding("TLN111", 3, 3), ABSENT),
        (_finding("TLN111", 2, 4), ABSENT),
        (_finding("TLN111", 8, 9), NOT_RUN),
        (_finding("TLN111", 3, 3, ("a.py", 9)), NOT_RUN),
        (_finding("TLN111", 3, 3, ("elsewhere.py", 9)), ABSENT),
        (_finding("TLN305", 3, 3), A_VALUE),
        (_finding("TLN305", 9, 9), NOT_RUN),
    ],
)
def test_what_a_run_says_of_a_finding(finding: dict[str, Any], verdict: str) -> None:
    met = ["RuntimeError: one of the variables has been modified by an inplace operation: …"]
    assert judged(finding, {"lines": {"a.py": [3, 5]}, "met": met}) == verdict


def test_every_code_with_a_symptom_is_a_rules() -> None:
    rules = Path(__file__).parents[2] / "rules"
    known = "".join(path.read_text(encoding="utf-8") for path in rules.glob("*.py"))
    assert all(f'"{code}"' in known for code in symptoms.SAYS)


def test_only_tests_that_end_alike_before_have_a_say() -> None:
    once = {"a": "passed", "b": "passed", "c": "failed", "late": "passed"}
    again = {"a": "passed", "b": "failed", "c": "failed", "late": "passed"}
    after = {"a": "failed", "b": "failed", "c": "failed", "new.py": "not collected"}
    assert unsafe([once, again], after) == {"a": ("passed", "failed"), "new.py": ("", "not collected")}
    assert unsafe([once, again], once) == {}


def test_the_list_and_the_explanations_fit() -> None:
    subjects = load()
    assert len({subject.name for subject in subjects}) == len(subjects) >= 12
    assert not [subject.name for subject in subjects if is_kept_for_later(subject.name)]
    explained = [json.loads(line) for line in EXPLAINED.read_text(encoding="utf-8").splitlines()]
    assert {(row["name"], row["version"]) for row in explained} <= {(each.name, each.version) for each in subjects}
    assert all(row["reason"].strip() for row in explained)


def test_the_table_has_a_cell_for_every_column() -> None:
    result = Result("p", "1", outcomes=Counter(passed=3, failed=1), verdicts=Counter({SHOWN: 1, ABSENT: 2}))
    head, rule, row = table([result]).splitlines()
    assert head.count("|") == rule.count("|") == row.count("|")
    assert row.startswith("| p 1 | 3 | 1 | 3 | 1 | 2 | 0 | 0 |")
