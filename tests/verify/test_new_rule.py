"""`torchlint new-rule`: what it writes passes at once; and what a rule's author is told of wrong examples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from torchlint.hosts.command_line import main
from torchlint.rule import Example, Holds, Rule
from torchlint.verify.examples import problems
from torchlint.verify.probes import PROBES


@pytest.mark.parametrize("kind", [(), ("--visitor",)], ids=["event", "visitor"])
def test_it_passes_at_once(tmp_path: Path, kind: tuple[str, ...]) -> None:
    given = ["new-rule", "scaled-loss", "--code", "OWN007", "--directory", str(tmp_path), *kind]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_scaled_loss.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout


def test_in_a_package_it_passes_too(tmp_path: Path) -> None:
    folder = tmp_path / "mine" / "rules"
    folder.mkdir(parents=True)
    for each in (folder, folder.parent):
        (each / "__init__.py").touch()
    result = CliRunner().invoke(main, ["new-rule", "scaled-loss", "--code", "OWN009", "--directory", str(folder)])
    assert result.exit_code == 0, result.output
    assert 'plugins = ["mine.rules.scaled_loss"]' in result.output
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mine/rules/test_scaled_loss.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("torch",), "there is a module of that name already"),
        (("json",), "there is a module of that name already"),
        (("class",), "cannot be the name of a Python module"),
        (("example",), "the class would be called Example"),
        (("in-place-result-assigned",), "'in-place-result-assigned' is the name of TLN"),
        (("scaled-loss", "--code", "TLN101"), "the code TLN101 is that of `"),
        (("scaled-loss", "--code", "TLN199"), "codes that begin with TLN are torchlint's own"),
    ],
)
def test_what_cannot_work_is_refused_at_once(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    result = CliRunner().invoke(main, ["new-rule", *arguments, "--directory", str(tmp_path)])
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "scaled_loss.py").write_text("mine")
    result = CliRunner().invoke(main, ["new-rule", "scaled-loss", "--directory", str(tmp_path)])
    assert result.exit_code == 2
    assert "is there already; nothing was written" in result.output
    assert [file.name for file in tmp_path.iterdir()] == ["scaled_loss.py"]


def test_names_and_codes(tmp_path: Path) -> None:
    for arguments, words in ((["Scaled_Loss"], "is no name"), (["scaled", "--code", "x1"], "is no code")):
        result = CliRunner().invoke(main, ["new-rule", *arguments, "--directory", str(tmp_path)])
        assert result.exit_code == 2
        assert words in result.output


def test_an_author_is_told_what_is_wrong(tmp_path: Path) -> None:
    CliRunner().invoke(main, ["new-rule", "scaled-loss", "--code", "OWN008", "--directory", str(tmp_path)])
    space: dict[str, Any] = {"__name__": "scaled_loss"}
    text = (tmp_path / "scaled_loss.py").read_text()
    exec(compile(text, str(tmp_path / "scaled_loss.py"), "exec"), space)
    rule: type[Rule] = space["ScaledLoss"]
    bad = rule.bad[0]
    unmarked = Example(bad.source.replace("# smell: [OWN008]", ""), shows=Holds("x.grad[0] == 3"), fixed=bad.fixed)
    rule.bad, rule.good = (unmarked,), (Example(bad.source.partition("#")[0]),)
    found = "\n".join(problems(rule))
    assert "no marker says so" in found
    assert "torch does not show Holds" in found
    assert "good example 1: there is a finding in line 5" in found


def test_every_probe_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "writing-a-rule.md").read_text()
    assert not [name for name in PROBES if f"| `{name}` |" not in text]
