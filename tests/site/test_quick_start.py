"""The quick start, typed: the files it shows, its commands in their order, and what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import DOCS, blocks, written

PAGE = DOCS / "quick-start.md"
INSTALLS = ("python -m venv", "pip install")


def _printed(command: str, folder: Path) -> str:
    name, *arguments = command.split()
    assert name == "torchlint", command
    environment = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    return subprocess.run(
        [sys.executable, "-m", "torchlint", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    ).stdout


def test_the_commands_print_what_the_page_says(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    seen: dict[int, str] = {}
    commands = 0
    for block in blocks(page):
        if block.note.startswith("file "):
            (tmp_path / block.note.removeprefix("file ")).write_text(block.text, encoding="utf-8")
        if block.kind != "console":
            continue
        shown = ""
        for line in block.text.splitlines():
            if not line.startswith("$ "):
                continue
            shown += f"{line}\n"
            if not line.removeprefix("$ ").startswith(INSTALLS):
                shown += _printed(line.removeprefix("$ "), tmp_path)
                commands += 1
        seen[block.start] = shown
    assert commands >= 6
    if request.config.getoption("--bless"):
        PAGE.write_text(written(page, seen), encoding="utf-8")
    assert written(page, seen) == page


@pytest.mark.parametrize("name", ["fit.py", "gan.py", "state.py"])
def test_the_programs_beside_the_page_are_those_on_it(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = next(block.text for block in blocks(page) if block.note == f"file {name}")
    assert (DOCS / "quick-start" / name).read_text(encoding="utf-8") == shown
