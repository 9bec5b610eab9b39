"""The page `docs/what-it-does.md`: every command on it prints what it says, and every link leads somewhere."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import expectations
import prepared
import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "what-it-does.md"
TRAIN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""
RULE = '''
from torchlint.model import events
from torchlint.rule import Diagnostic, Level, Rule

class Mine(Rule):
    """
    Mine.

    ## What it does
    Reports.
    ## Why is this bad?
    It is not.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level, preview = "MIN001", "mine", Level.WARNING, True

    def check(self, event: events.InplaceWrite):
        yield Diagnostic(event.node, "mine")
'''
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# A notebook"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": TRAIN.splitlines(True)},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def _rows() -> Iterator[tuple[str, str]]:
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) >= 3 and cells[-2].startswith("`") and cells[-1].startswith("`"):
            yield cells[-2].strip("`"), cells[-1].strip("`")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that the page speaks of, committed."""
    folder = tmp_path_factory.mktemp("project")
    files = {
        "train.py": TRAIN,
        "needless.py": TRAIN.replace("y.mul_(2)\ny.sum().backward()", "y.sum().backward(retain_graph=True)"),
        "silenced.py": TRAIN.replace("y.mul_(2)", "y.mul_(2)  # noqa: TLN201"),
        "stale.py": "import torch  # noqa: TLN201\n",
        "newer.py": "import torch\n\nstep = torch.compile(torch.nn.Linear(1, 1))\n",
        "stub.pyi": "import torch\n",
        "ignored.py": TRAIN,
        "mine.py": RULE,
        "notebook.ipynb": json.dumps(NOTEBOOK),
        ".gitignore": "ignored.py\n.torchlint_cache\nknown.json\n",
        "pyproject.toml": '[tool.torchlint]\nexit-on = "error"\nplugins = ["mine"]\nexclude = ["mine.py"]\n',
        "inner/torchlint.toml": 'extend = "../pyproject.toml"\nstrict = true\n',
        "inner/a.py": "import torch\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "--message=first"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return folder


def _printed(command: str, folder: Path) -> str:
    words, _, given = command.partition(" < ")
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    stdin = (folder / given).read_bytes() if given else b""
    ran = prepared.run_module(*shlex.split(words), cwd=folder, env=environment, stdin=stdin, together=True, timeout=300)
    assert ran.returncode in (0, 1), ran.stdout
    return ran.stdout.decode()


def test_every_command_prints_what_the_page_says(project: Path) -> None:
    """In the order of the page: a baseline is written before it is used."""
    rows = list(_rows())
    assert len(rows) > 40
    known: dict[str, str] = {}
    for command, words in rows:
        if command not in known:
            known[command] = _printed(command, project)
        assert words in known[command], f"{command}: {known[command]}"
        if "--fix" in command:
            subprocess.run(["git", "checkout", "--quiet", "."], cwd=project, check=True)
    listed = known["torchlint check --show-files"].split()
    assert "ignored.py" not in listed
    assert "train.py" not in known['torchlint check --show-files --extend-exclude "train.py"'].split()


def test_all_41_rows_are_there_with_a_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|[^|]+\| `(\w+) ", text, re.M)
    assert [int(number) for number, _ in rows] == list(range(1, 42))
    others = text.partition("## What no other has")[2]
    without = [line for line in re.findall(r"^\|.*\|$", others, re.M)[2:] if not re.match(r"\|[^|]*\| `\w+ ", line)]
    assert without == []


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.S)):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (ROOT / "docs" / target).exists(), f"{page}: {target}"


def test_fixes_write_python_3_8() -> None:
    """A fix never writes syntax that is newer than what anybody who has a torch of these releases can run."""
    for rule in expectations.own().rules:
        for example in rule.bad:
            if example.fixed is not None:
                ast.parse(example.fixed, feature_version=(3, 8))
