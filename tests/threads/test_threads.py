"""The programs of the threads: their form, what torch says of them, and that what was found stays found."""

from __future__ import annotations

import ast
import json

import pytest

from . import measure
from .__main__ import KEPT
from .collection import FOLDER, Program, Twin, programs, twins

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


def test_what_was_found_stays_found() -> None:
    kept = set(json.loads(KEPT.read_text(encoding="utf-8")))
    chosen = [each for each in PROGRAMS if each.path.name in kept]
    assert len(chosen) == len(kept), "a program that was found is gone"
    said = measure.lint(each.path for each in (*chosen, *TWINS))
    assert not [each.program.path.name for each in measure.judge(chosen, said) if not each.right]
    assert not measure.alarms(TWINS, said)


def test_nothing_is_kept_of_the_held_out_half() -> None:
    kept = set(json.loads(KEPT.read_text(encoding="utf-8")))
    assert not [each for each in PROGRAMS if each.held_out and each.path.name in kept]


def test_the_first_run_names_every_program() -> None:
    first = json.loads((FOLDER / "first-run.json").read_text(encoding="utf-8"))
    assert set(first["outcomes"]) == {each.path.name for each in (*PROGRAMS, *TWINS)}


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
