"""Whatever is wrong with a file or with the user's words: a sentence, a status, and the other findings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from process import Torchlint


@pytest.fixture
def with_other(overwritten: str, torchlint: Torchlint) -> Torchlint:
    """A directory that has one ordinary finding already."""
    Path("other.py").write_text(overwritten)
    return torchlint


def _concise(torchlint: Torchlint, *paths: str) -> tuple[int, list[str]]:
    ran = torchlint("check", "--output-format", "concise", *paths)
    assert "Traceback" not in ran.err
    return ran.status, [line.partition("] ")[0] + "] " + line.partition("] ")[2] for line in ran.out.splitlines()]


def test_syntax_error(with_other: Torchlint) -> None:
    Path("bad.py").write_text("import torch\nx = f(1,\n")
    status, lines = _concise(with_other)
    assert status == 1
    assert lines[0] == "bad.py:2:6: error[TLN001] '(' was never closed"
    assert lines[1].startswith("other.py:5:1: error[TLN201]")


def test_not_utf_8(with_other: Torchlint) -> None:
    Path("bad.py").write_bytes(b"import torch\ns = 'caf\xe9'\n")
    status, lines = _concise(with_other)
    assert status == 1
    assert lines[0] == "bad.py:2:9: error[TLN001] not utf-8: cannot decode byte 0xe9"
    assert lines[1].startswith("other.py:5:1: error[TLN201]")
    text = with_other("check", "bad.py").out.splitlines()
    assert text[1:3] == [" 2 | s = 'caf\ufffd'", "   |         ^"]


def test_a_declared_encoding_is_read(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_bytes(b"# coding: latin-1\n# \xe9\n" + overwritten.encode())
    status, lines = _concise(torchlint)
    assert (status, lines[0][:7]) == (1, "a.py:7:")


def test_empty_file_and_directory_without_python(torchlint: Torchlint) -> None:
    Path("empty.py").write_text("")
    ran = torchlint("check", "empty.py")
    assert (ran.status, ran.out, ran.err) == (0, "No findings in 1 file.\n", "")
    os.mkdir("folder")
    ran = torchlint("check", "folder")
    assert (ran.status, ran.err) == (0, "torchlint: no Python files in folder\n")


def test_an_unreadable_file(with_other: Torchlint) -> None:
    os.symlink("loop.py", "loop.py")
    status, lines = _concise(with_other, "loop.py", "other.py")
    assert status == 2
    assert lines[0].startswith("loop.py:1:1: error[TLN000] cannot be read: ")
    assert lines[1].startswith("other.py:5:1: error[TLN201]")


def test_a_missing_path(with_other: Torchlint) -> None:
    ran = with_other("check", "nowhere.py", "other.py")
    assert ran.status == 2
    assert ran.err == "torchlint: no such file or directory: nowhere.py\n"
    assert "other.py:5:1" in ran.out


def test_a_plugin_rule_that_raises(with_other: Torchlint, tmp_path: Path) -> None:
    Path("broken_rule.py").write_text(
        '''
from torchlint.model import events
from torchlint.rule import Level, Rule

class Broken(Rule):
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

    code, name, level = "BRO001", "broken", Level.ERROR

    def check(self, event: events.InplaceWrite):
        raise LookupError("never mind")
'''
    )
    Path("torchlint.toml").write_text('plugins = ["broken_rule"]\nexclude = ["broken_rule.py"]\n')
    ran = with_other("check", "--output-format", "concise", PYTHONPATH=str(tmp_path))
    assert ran.status == 2
    assert "other.py:5:1: error[TLN201]" in ran.out
    (line,) = (line for line in ran.out.splitlines() if "TLN000" in line)
    assert line == (
        "other.py:5:1: error[TLN000] the rule BRO001 (broken) failed: "
        "LookupError: never mind (broken_rule.py, line 22); the other findings stand"
    )


def test_a_plugin_that_cannot_be_loaded(with_other: Torchlint) -> None:
    Path("torchlint.toml").write_text('plugins = ["no_such_module"]\n')
    ran = with_other("check", "--output-format", "concise")
    assert ran.status == 2
    assert "torchlint.toml:1:1: error[TLN000] no rules from it: ModuleNotFoundError: No module named" in ran.out
    assert "other.py:5:1: error[TLN201]" in ran.out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[tool.torchlint]\nselct = []\n", "pyproject.toml: unknown key `selct`; did you mean `select`?"),
        ("[tool.torchlint]\nstrict = 'yes'\n", "pyproject.toml: `strict` must be true or false, not the string 'yes'"),
        ("[tool.torchlint\n", "pyproject.toml: not valid TOML: "),
        ("[tool.torchlint]\nignore = ['TLN999']\n", "pyproject.toml:2: no rule matches `TLN999`"),
    ],
)
def test_wrong_configuration(with_other: Torchlint, text: str, complaint: str) -> None:
    Path("pyproject.toml").write_text(text)
    ran = with_other("check")
    assert ran.status == 2
    assert complaint in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""


def test_the_code_of_another_tool_is_no_misspelt_one(with_other: Torchlint) -> None:
    ran = with_other("check", "--select", "E501")
    assert "command line: no rule matches `E501`; it is another tool's code" in ran.err
    assert "did you mean" not in ran.err


def test_all_wrong_codes_of_a_configuration_are_told_at_once(with_other: Torchlint) -> None:
    Path("pyproject.toml").write_text("[tool.torchlint]\nselect = [\n  'TLN2',\n  'E501',\n]\nignore = ['TLN999']\n")
    ran = with_other("check", "--select", "TLN7x")
    first, second, third = ran.err.splitlines()
    assert "pyproject.toml:4: no rule matches `E501`; it is another tool's code" in first
    assert "pyproject.toml:6: no rule matches `TLN999`" in second
    assert third.startswith("torchlint: command line: no rule matches `TLN7x`")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--output-format", "yaml"),
        ("check", "--jobs", "0"),
        ("chek",),
        ("check", "--nope"),
        ("rule", "TLN2O1"),
    ],
)
def test_wrong_use(torchlint: Torchlint, arguments: tuple[str, ...]) -> None:
    ran = torchlint(*arguments)
    assert ran.status == 2
    assert "Traceback" not in ran.err
    assert ran.err.startswith("Usage: ")
