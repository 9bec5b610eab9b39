"""The README shows what the program really prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlint.hosts.command_line import main

ROOT = Path(__file__).parents[3]


def test_example_output_is_real(monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(
        r"^```console\n\$ torchlint (.*?)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    assert block
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(main, block[1].split())
    assert result.output == block[2]


def test_ci_finds_the_test_command() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    command = re.search(r"<!-- test command -->\n```console\n\$ (.*?)\n```\n<!-- end -->", text)
    assert command
    assert "pytest" in command[1]
