"""torchlint inside a real flake8 process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import deadly
import prepared
import pytest

OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _flake8(*arguments: str, stdin: str = "") -> tuple[int, list[str]]:
    ran = prepared.run_module("flake8", "-j1", *arguments, stdin=stdin.encode())
    assert ran.stderr == b""
    return ran.returncode, ran.stdout.decode().splitlines()


def _torchlint_lines(*arguments: str, stdin: str = "") -> list[str]:
    _, lines = _flake8(*arguments, stdin=stdin)
    return [line for line in lines if " TLN" in line]


def test_codes_show_in_a_plain_run() -> None:
    Path("a.py").write_text(OVERWRITTEN)
    status, lines = _flake8("a.py")
    assert status == 1
    assert len(lines) == 1
    assert lines[0].startswith("a.py:5:1: TLN201 `mul_` overwrites")


def test_columns_count_from_one() -> None:
    Path("a.py").write_text(OVERWRITTEN.replace("y.mul_", "ü = 1; y.mul_"))
    (line,) = _torchlint_lines("a.py")
    assert line.startswith("a.py:5:8: TLN201 ")


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# noqa", True),
        ("# noqa: TLN201", True),
        ("# noqa:E501,TLN2", True),
        ("# noqa: E501", False),
        ("# torchlint: ignore[TLN201]", True),
        ("# torchlint: ignore[TLN202]", False),
    ],
)
def test_comments(comment: str, silent: bool) -> None:
    Path("a.py").write_text(OVERWRITTEN.replace("mul_(2)", f"mul_(2)  {comment}"))
    assert any("TLN201" in line for line in _torchlint_lines("a.py")) is not silent


def test_unused_comments_of_torchlint_are_reported_and_noqa_is_not() -> None:
    Path("a.py").write_text("import torch  # noqa\nx = torch  # noqa: TLN201\ny = x  # torchlint: ignore[TLN201]\n")
    assert _torchlint_lines("a.py") == ["a.py:3:8: TLN002 the suppression of `TLN201` covers no finding"]


def test_selection_by_flake8_and_by_the_configuration() -> None:
    Path("a.py").write_text(OVERWRITTEN)
    assert _torchlint_lines("--extend-ignore=TLN2", "a.py") == []
    assert len(_torchlint_lines("--select=TLN", "a.py")) == 1
    Path("pyproject.toml").write_text('[tool.torchlint]\nignore = ["TLN201"]\n')
    assert _torchlint_lines("a.py") == []


def test_strict() -> None:
    harmless = OVERWRITTEN.replace("x.exp()", "x + 1")
    Path("a.py").write_text(harmless)
    assert _torchlint_lines("a.py") == []
    (line,) = _torchlint_lines("--torchlint-strict", "a.py")
    assert line.startswith("a.py:5:1: TLN204 ")
    Path("setup.cfg").write_text("[flake8]\ntorchlint-strict = true\n")
    assert _torchlint_lines("a.py") == [line]


TWO = OVERWRITTEN.replace("backward()", "backward(retain_graph=True)")


def _codes(*arguments: str) -> list[str]:
    return [line.split(" ")[1] for line in _torchlint_lines(*arguments, "a.py")]


@pytest.mark.parametrize(
    ("name", "value", "codes"),
    [
        ("torchlint-select", "TLN1", ["TLN102"]),
        ("torchlint-select", "retain-graph,TLN201", ["TLN201", "TLN102"]),
        ("torchlint-ignore", "TLN2", ["TLN102"]),
        ("torchlint-level", "warning", ["TLN201"]),
        ("torchlint-level", "strict", ["TLN201", "TLN102"]),
        ("extend-ignore", "TLN1", ["TLN201"]),
        ("extend-select", "TLN", ["TLN201", "TLN102"]),
    ],
)
def test_options_on_the_command_line_and_in_a_file(name: str, value: str, codes: list[str]) -> None:
    Path("a.py").write_text(TWO)
    assert _codes() == ["TLN201", "TLN102"]
    assert _codes(f"--{name}={value}") == codes
    Path("setup.cfg").write_text(f"[flake8]\n{name} = {value}\n")
    assert _codes() == codes


def test_options_come_on_top_of_the_configuration() -> None:
    Path("a.py").write_text(TWO)
    Path("torchlint.toml").write_text('select = ["TLN1"]\n')
    assert _codes() == ["TLN102"]
    assert _codes("--torchlint-extend-select=TLN201") == ["TLN201", "TLN102"]
    assert _codes("--torchlint-select=TLN2") == ["TLN201"]


def test_options_reach_several_processes() -> None:
    for number in range(6):
        Path(f"a{number}.py").write_text(TWO)
    _, lines = _flake8("-j2", "--torchlint-select=TLN1", ".")
    found = [line for line in lines if " TLN" in line]
    assert sorted(line.partition(":")[0] for line in found) == [f"./a{number}.py" for number in range(6)]
    assert all(" TLN102 " in line for line in found)


def test_a_wrong_option_says_so() -> None:
    Path("a.py").write_text(OVERWRITTEN)
    (line,) = _torchlint_lines("--torchlint-select=TLN9999", "a.py")
    assert line.startswith("a.py:1:1: TLN000 ")
    assert "TLN9999" in line


def test_standard_input() -> None:
    (line,) = _torchlint_lines("-", stdin=OVERWRITTEN)
    assert line.startswith("stdin:5:1: TLN201 ")
    (line,) = _torchlint_lines("--stdin-display-name=b.py", "-", stdin=OVERWRITTEN)
    assert line.startswith("b.py:5:1: TLN201 ")


def test_a_wrong_configuration_is_a_finding_and_no_crash() -> None:
    Path("a.py").write_text(OVERWRITTEN)
    Path("b.py").write_text("import os\n")
    Path("torchlint.toml").write_text("selct = []\n")
    status, lines = _flake8("a.py", "b.py")
    assert status == 1
    assert len(lines) == 2
    assert lines[0].startswith("a.py:1:1: TLN000 ")
    assert lines[0].endswith("unknown key `selct`; did you mean `select`?")
    assert lines[1] == "b.py:1:1: F401 'os' imported but unused"


def test_a_rule_that_raises_is_a_finding_and_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "breaking_rule.py").write_text(
        '''
from torchlint.model import events
from torchlint.rule import Level, Rule


class Breaking(Rule):
    """
    Breaks.

    ## What it does
    Breaks.
    ## Why is this bad?
    It is not.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level = "BRK001", "breaking", Level.ERROR

    def check(self, event: events.InplaceWrite):
        raise LookupError("never mind")
'''
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    Path("torchlint.toml").write_text('plugins = ["breaking_rule"]\n')
    Path("a.py").write_text(OVERWRITTEN)
    lines = _torchlint_lines("a.py")
    assert [line[:17] for line in lines] == ["a.py:5:1: TLN000 ", "a.py:5:1: TLN201 "]
    assert "the rule BRK001 (breaking) failed: LookupError: never mind" in lines[0]


def test_files_without_torch_cost_nothing() -> None:
    """The plugin is loaded by every flake8 on earth: without torch in the file it imports neither libcst nor a rule."""
    Path("a.py").write_text("x = 1\n")
    program = (
        "import sys; from flake8.main.cli import main; status = main(['-j1', 'a.py']);"
        "print(status, 'torchlint.hosts.flake8' in sys.modules,"
        "sorted({'libcst', 'torchlint.lint.engine', 'torchlint.lint.registry', 'torchlint.model'}"
        " & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "0 True []\n"


def test_flake8_knows_the_plugin() -> None:
    from torchlint import __version__

    ran = subprocess.run([sys.executable, "-m", "flake8", "--version"], capture_output=True, text=True, check=True)
    assert f"torchlint: {__version__}" in ran.stdout.replace("\n", " ")


@pytest.mark.parametrize("jobs", [(), ("-j1",), ("-j2",)])
def test_a_file_that_kills_the_process_is_named_and_flake8_goes_on(
    jobs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """flake8 waits for ever for a process of its own that died."""
    monkeypatch.setenv("HOW", "crash")
    Path("killing_rule.py").write_text(deadly.RULE)
    Path("torchlint.toml").write_text('plugins = ["killing_rule"]\n')
    for name in ("a", "b", "c"):
        Path(f"{name}.py").write_text(OVERWRITTEN)
    Path("d.py").write_text(OVERWRITTEN.replace("y.mul_(2)", "y = y * 2").replace("backward()", "backward(x[0])"))
    ran = prepared.run_module("flake8", *jobs, "--select=TLN", "a.py", "b.py", "c.py", "d.py")
    assert ran.stderr == b""
    assert ran.stdout.decode().splitlines() == [
        f"{name}.py:1:1: TLN000 the process that checked this file died (SIGSEGV)" for name in ("a", "b", "c")
    ]
