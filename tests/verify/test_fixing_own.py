"""`--fix --verify --with`: a fix is held against the user's own program, before and after."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlint.hosts.command_line import main
from torchlint.rule import Finding, FindingFix, Level, TextEdit
from torchlint.syntax.tree import Span
from torchlint.verify.fixing_own import Programs
from torchlint.verify.own import Limits
from torchlint.verify.session import parsed

MODEL = """\
import torch
def doubled(x):
    y = x * 2
    return y
def saved(x):
    y = torch.sigmoid(x)
    y += 1
    y.sum().backward()
def noisy(x):
    y = x + torch.rand(3)
    return y.sum()
"""
SUITE = """\
import torch, model
def test_doubled(): assert model.doubled(torch.ones(3)).sum() > 0
def test_saved(): model.saved(torch.ones(3, requires_grad=True))
def test_noisy(): model.noisy(torch.ones(3, requires_grad=True)).backward()
"""


def objection(folder: Path, old: str, new: str, command: str = "pytest -q test_model.py") -> str:
    """What stands against one text in place of another, in a file that a suite and a script use."""
    model = folder / "model.py"
    model.write_text(MODEL)
    (folder / "test_model.py").write_text(SUITE)
    (folder / "script.py").write_text("import torch, model\nprint(model.doubled(torch.ones(3)).shape)\n")
    number = next(number for number, line in enumerate(MODEL.splitlines(), 1) if old in line)
    column = MODEL.splitlines()[number - 1].index(old) + 1
    span = Span(number, column, number, column + len(old))
    fix = FindingFix("write it otherwise", True, (TextEdit(span, new),))
    finding = Finding(str(model), span, "TLN999", "made-up", Level.ERROR, "made up", (), fix)
    variables, _, parts = parsed(command)
    found = Programs(command, sys.executable, parts, variables, Limits(), quiet=True).objection(MODEL, finding)
    assert model.read_text() == MODEL
    return found


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_does_the_same_is_applied(tmp_path: Path) -> None:
    assert objection(tmp_path, "x * 2", "x + x") == ""


def test_another_value_at_the_end_of_the_function(tmp_path: Path) -> None:
    found = objection(tmp_path, "x * 2", "x * 3")
    assert found.startswith("`y` is [3, 3, 3] at the end of its function, and not [2, 2, 2]")
    assert found.endswith("(in test_model.py::test_doubled)")


def test_another_error(tmp_path: Path) -> None:
    assert "with it the program raises NameError" in objection(tmp_path, "x * 2", "x * z")


def test_what_a_script_prints(tmp_path: Path) -> None:
    assert "it prints 'torch.Size([6])'" in objection(tmp_path, "x * 2", "x.repeat(2)", "script.py")


def test_a_write_is_held_against_a_copy(tmp_path: Path) -> None:
    assert objection(tmp_path, "y += 1", "y = y + 1") == ""
    found = objection(tmp_path, "y += 1", "y = 2 * y")
    assert found.startswith("held against the program with what was saved kept as a copy, the backward in line 8")


def test_a_place_that_the_program_does_not_reach(tmp_path: Path) -> None:
    assert "line 7 was not reached by `script.py`" in objection(tmp_path, "y += 1", "y = y + 1", "script.py")


def test_a_program_that_does_not_repeat_itself(tmp_path: Path) -> None:
    assert "two runs of" in objection(tmp_path, "x + torch.rand(3)", "torch.rand(3) + x")


def test_the_command(tmp_path: Path) -> None:
    text = "import torch\ndef saved(x):\n    y = torch.sigmoid(x)\n    y += 1\n    y.sum().backward()\n"
    more = text.partition("\n")[2].replace("saved", "unused")
    (tmp_path / "model.py").write_text(text + more)
    (tmp_path / "script.py").write_text("import torch, model\nmodel.saved(torch.ones(3, requires_grad=True))\n")
    options = ["--no-cache", "--isolated", "--fix", "--unsafe-fixes", "--verify", "--with", "script.py", "model.py"]
    result = CliRunner().invoke(main, ["check", *options])
    fixed = (tmp_path / "model.py").read_text()
    assert fixed == text.replace("y += 1", "y = y + 1") + more
    assert "the fix of TLN201 was not applied: line 8 was not reached by `script.py`" in result.output


def test_with_is_for_verify() -> None:
    result = CliRunner().invoke(main, ["check", "--with", "script.py", "."])
    assert result.exit_code == 2
    assert "--with COMMAND is for --verify" in result.output
