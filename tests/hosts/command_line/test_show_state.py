"""`torchlint check --show-state`: the abstract state, line by line."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from torchlint.hosts.command_line import main

PROGRAM = """import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
pair = (x, None)
"""


def test_state_after_each_line(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    result = CliRunner().invoke(main, ["check", "--show-state", str(path)])
    assert result.exit_code == 0
    shown = result.output
    assert "x  tensor 3, float, requires grad, leaf" in shown
    assert "y  tensor 3, float, requires grad, ExpBackward0" in shown
    after_write = shown.partition("4 | y.mul_(2)")[2]
    assert "MulBackward0, written in place" in after_write
    assert "pair  tuple of" in after_write


def test_standard_input() -> None:
    result = CliRunner().invoke(main, ["check", "--show-state", "-"], input=PROGRAM)
    assert result.exit_code == 0
    assert "<stdin>:" in result.output


def test_bad_input_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import torch\nx = (\n")
    (tmp_path / "good.py").write_text(PROGRAM)
    result = CliRunner().invoke(main, ["check", "--show-state", str(tmp_path)])
    assert result.exit_code == 2
    assert "bad.py" in result.output
    assert "ExpBackward0" in result.output
