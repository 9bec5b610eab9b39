"""
Statements injected into real Modules: none of the harmless ones is reported, most of the breaking ones are.

    pytest -m corpus tests/injection        installs the packages beside this environment, and takes half an hour
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from injection.measure import Measured, _passed_by, measure
from injection.subjects import Subject, load, mutants
from torchlint.finding import TraceLine

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


PARTS = """
import torch
from torch import nn


class Smooth(nn.Module):
    def forward(self, x):
        return torch.exp(x)


class Plain(nn.Module):
    def forward(self, x):
        return -x
"""
NET = """
import torch
from torch import nn
from chosen.parts import Plain, Smooth


class Net(nn.Module):
    def __init__(self, kind="plain"):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        if kind == "plain":
            self.part = Plain()
        else:
            self.part = Smooth()

    def forward(self, x):
        y = self.part(self.linear(x))
        return y * 2
"""


@pytest.mark.parametrize(
    ("construct", "verdict"), [("Net()", "other path"), ("Net(kind='smooth')", "found")], ids=("passed by", "ran")
)
def test_a_line_of_another_file_that_did_not_run_is_another_path(tmp_path: Path, construct: str, verdict: str) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    for name, text in (("__init__", ""), ("parts", PARTS), ("net", NET)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    subject = Subject("chosen==1", "chosen.net", "Net", construct, {"x": "rand(2, 3)"})
    (judged,) = measure([subject], str(tmp_path), 0, 4, 1, None).judged
    assert judged.claim.startswith("warning[TLN201]")
    assert judged.verdict == verdict


def test_a_line_that_ran_or_stands_outside_of_the_package_is_no_other_path(tmp_path: Path) -> None:
    for package in ("chosen", "other"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "parts.py").write_text(PARTS, encoding="utf-8")
    subject = Subject("chosen==1", "chosen.net", "Net", "Net()", {})

    def passed_by(package: str, line: int, ran: dict[str, list[int]]) -> bool:
        step = TraceLine(str(tmp_path / package / "parts.py"), line, 1, "")
        return _passed_by(step, subject, str(tmp_path), ran)

    assert passed_by("chosen", 8, {})
    assert not passed_by("chosen", 8, {"chosen/parts.py": [8]})
    assert not passed_by("chosen", 2, {})  # ran when it was imported
    assert not passed_by("other", 8, {})


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
