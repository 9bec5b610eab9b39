"""The table of the talk's rows in `docs/runtime.md`: each row is there, as a run gave it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import test_talk_rows
import torch

from torchlint.verify.observe import sample
from torchlint.verify.recorder import Meter

sys.path.insert(0, str(Path(__file__).parents[2]))  # `tests.verdicts`, a command

from tests.verdicts import rows

LINES = [
    line.split(" | ") for line in rows.PAGE.read_text().partition(rows.BEGIN)[2].partition(rows.END)[0].splitlines()
]
TABLE = [(line[0].removeprefix("| "), *line[1:3]) for line in LINES[2:]]


def test_every_row_is_there() -> None:
    assert {name.split()[0] for name, _, _ in TABLE} == set(test_talk_rows.ROWS)


def test_every_program_is_there() -> None:
    assert {name for name, _, _ in TABLE} == {name for name, _, _ in rows.programs()}


def test_nothing_is_refuted() -> None:
    assert not [row for row in TABLE if row[2] == "refuted"]


@pytest.mark.parametrize("name", ["T1", "T9", "T19", "S4 diagonal"])
def test_a_row_is_what_a_run_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [program for program in rows.programs() if program[0] == name]
    monkeypatch.setattr(rows, "programs", lambda: iter(wanted))
    found = [line.split(" | ") for line in list(rows.table())[2:]]
    assert [(line[0].removeprefix("| "), *line[1:3]) for line in found] == [row for row in TABLE if row[0] == name]


def test_what_the_observer_looks_at_is_not_counted() -> None:
    tensor = torch.ones(3)
    with Meter() as meter:
        sample(tensor * 2)
    assert meter.elements == 3
