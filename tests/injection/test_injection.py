"""
Statements injected into real Modules: none of the harmless ones is reported, most of the breaking ones are.

    pytest -m corpus tests/injection        installs the packages beside this environment, and takes half an hour
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from injection.measure import Measured, measure
from injection.subjects import Subject, load, mutants

ROOT = Path(__file__).parents[2]
TARGET = 0.8
"""The share of breaking statements that must be reported, definitely or if an input requires grad."""


def test_no_line_moves_and_the_seed_decides() -> None:
    text = "class Net:\n    def forward(self, x):\n        y = f(\n            x)  # é\n        return y\n"
    subject = Subject("p==1", "m", "Net", "Net()", {"x": "rand(2)"})
    (mutant,) = mutants(text, subject, 7, 4)
    assert mutants(text, subject, 7, 4) == [mutant]
    changed = mutant.applied(text).splitlines()
    assert changed[3] == f"            x); {mutant.statement}  # é"
    assert len(changed) == len(text.splitlines())


def test_the_list_is_long_enough_and_each_module_is_in_it_once() -> None:
    names = [(subject.module, subject.name) for subject in load()]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest) -> Measured:
    cache = request.config.cache
    assert cache is not None
    folder = Path(cache.mkdir("injection"))
    if not (folder / "timm").exists():
        command = [sys.executable, "-m", "tests.injection", "install", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True)
    return measure(load(), str(folder), 0, 4, 2, folder / "verdicts.json")


@pytest.mark.corpus
def test_no_harmless_statement_is_reported(measured: Measured) -> None:
    assert measured.subjects - len(measured.unsound) >= 200
    assert [each for each in measured.judged if each.verdict == "false alarm"] == []


@pytest.mark.corpus
def test_breaking_statements_are_reported(measured: Measured) -> None:
    breaking = [each for each in measured.judged if each.breaks]
    assert sum(each.verdict == "found" for each in breaking) >= TARGET * len(breaking)
