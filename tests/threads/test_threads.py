"""The programs of the threads: their form and what torch says of them."""

from __future__ import annotations

import ast

import pytest

from .collection import Program, Twin, programs, twins

PROGRAMS, TWINS = programs(), twins()


def _name(one: Program | Twin) -> str:
    return one.path.stem


@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
def test_a_program_has_its_form(program: Program) -> None:
    text = program.path.read_text(encoding="utf-8")
    ast.parse(text)
    lines = text.splitlines()
    assert all(7 <= line <= len(lines) and lines[line - 1].strip() for line in program.lines)
    assert 8 <= sum(bool(line.strip()) for line in lines[6:]) <= 45


@pytest.mark.parametrize("twin", TWINS, ids=_name)
def test_a_twin_has_its_form(twin: Twin) -> None:
    ast.parse(twin.path.read_text(encoding="utf-8"))
    assert twin.path.stem == f"{twin.of.path.stem}_correct"


def test_each_thread_is_there_once() -> None:
    assert len({each.thread for each in PROGRAMS}) == len(PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
def test_torch_shows_the_symptom(program: Program) -> None:
    from .running import run

    outcome = run(program.path)
    assert outcome.shows(program), outcome


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS, ids=_name)
def test_a_twin_runs_without_the_symptom(twin: Twin) -> None:
    from .running import run

    outcome = run(twin.path)
    assert outcome.error is None
    assert not outcome.shows(twin.of), outcome
