"""The committed table is what the generator gives: the part read from torch's yaml files, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torchlint.knowledge.ops import find as ops  # noqa: E402
from torchlint.optable import __main__ as op_table  # noqa: E402
from torchlint.optable.derivatives import Record, read_native  # noqa: E402

INSTALLED = torch.__version__.partition("+")[0]
same_torch = pytest.mark.skipif(
    ops.torch_version() != INSTALLED, reason=f"the table is of torch {ops.torch_version()}, installed is {INSTALLED}"
)


@pytest.fixture(scope="module")
def committed() -> dict[str, list[dict[str, Any]]]:
    table = json.loads(ops.TABLE.read_text(encoding="utf-8"))
    return {spelling: [table["records"][at] for at in numbers] for spelling, numbers in table["spellings"].items()}


@same_torch
def test_the_part_from_the_yaml_files(committed: dict[str, list[dict[str, Any]]]) -> None:
    generated = op_table.derivative_table()
    read = 0
    for spelling, records in generated.items():
        wanted = [record.entry() for record in records if not record.composite]
        found = [entry for entry in committed[spelling] if not entry.get("probed") and not entry.get("opaque")]
        assert found == wanted, spelling
        read += len(wanted)
    assert read > 1100


@same_torch
def test_nothing_else_is_in_the_table_unprobed(committed: dict[str, list[dict[str, Any]]]) -> None:
    native = op_table.native_spellings(read_native())
    for spelling in committed.keys() - native.keys():
        assert all(entry.get("probed") or entry.get("opaque") for entry in committed[spelling]), spelling


def test_equal_records_are_written_once_and_read_back() -> None:
    record = Record(name="mul", parameters="self:tensor other:tensor|number", saves=("self@other",), holds="yes")
    split = Record(
        name="pad",
        parameters="input:tensor mode:str=",
        when=(("mode", True, "reflect"),),
        defaults={"mode": "constant"},
    )
    text = op_table.render({"torch.mul": [record], "torch.multiply": [record], "torch.pad": [split]})
    table = json.loads(text)
    assert len(table["records"]) == 2
    assert table["spellings"]["torch.mul"] == table["spellings"]["torch.multiply"]
    assert table["records"][table["spellings"]["torch.pad"][0]]["defaults"] == {"mode": "constant"}


def test_check_says_what_differs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    record = Record(name="mul", parameters="self:tensor other:tensor")
    monkeypatch.setattr(op_table, "complete_table", lambda: {"torch.mul": [record]})
    monkeypatch.setattr(op_table, "TABLE", tmp_path / "op_table.json")
    assert op_table.main(["--write"]) == 0
    assert op_table.main(["--check"]) == 0
    monkeypatch.setattr(op_table, "complete_table", lambda: {"torch.mul": [record], "torch.multiply": [record]})
    assert op_table.main(["--check"]) == 1
    assert '"torch.multiply"' in capsys.readouterr().err
