"""The programs of the capabilities: what is found stays found, what is correct is silent, torch does what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from .__main__ import KEPT
from .collection import Program, programs
from .measure import measure

PROGRAMS = programs()


def _name(program: Program) -> str:
    return program.name


def test_each_program_is_there_once() -> None:
    assert len({each.file for each in PROGRAMS}) == len(PROGRAMS)


def test_what_is_found_stays_found_and_what_is_correct_is_silent() -> None:
    kept = set(KEPT.read_text(encoding="utf-8").split())
    chosen = [each for each in PROGRAMS if each.name in kept or each.correct]
    assert sum(not each.correct for each in chosen) == len(kept), "a program that was found is gone"
    assert not [(each.program.name, *map(str, each.said)) for each in measure(chosen) if not each.right]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
def test_torch_does_what_is_said(program: Program, tmp_path: Path) -> None:
    from tests.threads.running import run

    path = tmp_path / "program.py"
    path.write_text(program.text, encoding="utf-8")
    assert (run(path).error is not None) == program.raises
