"""
Programs judged as a user's own: each is a module that a test of one pytest suite imports, and the suite is the driver.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from torchlint.results import FileOutcome, FileReport, RunResult
from torchlint.rule import Finding
from torchlint.verify import own
from torchlint.verify.session import Command, Task

_SUITE = """
import importlib
import pathlib
import pytest
import torch

@pytest.fixture(autouse=True)
def as_it_was():
    yield
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.set_default_dtype(torch.float32)

@pytest.mark.parametrize("name", sorted(p.stem for p in pathlib.Path(__file__).parent.glob("program_*.py")))
def test_program(name):
    importlib.import_module(name)
"""


def judged(programs: Iterable[tuple[str, list[Finding]]]) -> Iterator[list[Finding]]:
    """
    The findings of each program, with the verdicts that its run in the suite gives.

    Parameters
    ----------
    programs
        Texts with their findings.
    """
    with tempfile.TemporaryDirectory() as directory:
        outcomes = []
        for number, (text, findings) in enumerate(programs):
            path = str(Path(directory, f"program_{number:04}.py"))
            Path(path).write_text(text, encoding="utf-8")
            moved = tuple(_moved(finding, path) for finding in findings)
            outcomes.append(FileOutcome(FileReport(path, moved)))
        Path(directory, "test_suite.py").write_text(_SUITE, encoding="utf-8")
        questions = own.Questions(RunResult(tuple(outcomes), len(outcomes)), "pytest")
        command = Command("pytest", "", ("-q", "--no-header", "-p", "no:cacheprovider", directory))
        task = Task(command, questions.session(50))
        for told in own.run_program(task, sys.executable, {}, own.Limits(), quiet=True):
            questions.take(told)
        for outcome in questions.answered().outcomes:
            yield list(outcome.report.findings)


def _moved(finding: Finding, path: str) -> Finding:
    trace = tuple(replace(step, path=path) for step in finding.trace if step.path == finding.path)
    return replace(finding, path=path, trace=trace)
