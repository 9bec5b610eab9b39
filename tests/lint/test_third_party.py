"""Rules of somebody else's package, built and installed for real, found by their entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import prepared
import pytest

PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "torchlint-plugin-acme"
version = "1.0"

[project.entry-points."torchlint.rules"]
module_plugin = "acme_rules"
rule_plugin = "acme_single:Single"
sick_plugin = "acme_sick"

[tool.setuptools]
py-modules = ["acme_rules", "acme_single", "acme_sick"]
"""
RULES = '''
"""Rules of a third party."""

from collections.abc import Iterator

from torchlint.model import events
from torchlint.rule import Diagnostic, Level, Rule


class {kind}(Rule):
    """
    A tensor is written in place.

    ## What it does
    Finds every write in place to a known tensor.

    ## Why is this bad?
    It is not; this is a test.

    ## Cure
    None.

    ## References
    None.
    """

    code = "{code}"
    name = "{rule}"
    level = Level.WARNING

    def check(self, event: events.InplaceWrite) -> Iterator[Diagnostic]:
        yield Diagnostic(event.node, f"`{{event.op}}` is called", event.trace)
'''
PROGRAM = "import torch\n\nx = torch.ones(3)\nx.mul_(2)\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a package of three plugins: a module of rules, a single rule, one that cannot be imported."""
    package, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    (package / "pyproject.toml").write_text(PROJECT)
    (package / "acme_rules.py").write_text(RULES.format(kind="Acme", code="ACM001", rule="acme-write"))
    (package / "acme_single.py").write_text(RULES.format(kind="Single", code="SIN001", rule="single-write"))
    (package / "acme_sick.py").write_text("raise RuntimeError('not today')\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(package)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return target


def _torchlint(installed: Path, folder: Path, *arguments: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    ran = prepared.run_module("torchlint", *arguments, cwd=folder, env=environment)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def test_third_party_rules_are_found_and_the_sick_one_is_named(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    status, out, err = _torchlint(installed, tmp_path, "check", "--output-format", "json")
    found = [(item["path"], item["line"], item["code"], item["name"], item["message"]) for item in json.loads(out)]
    assert found == [
        (
            "entry point sick_plugin",
            1,
            "TLN000",
            "internal-error",
            "no rules from `acme_sick`: RuntimeError: not today",
        ),
        ("a.py", 4, "ACM001", "acme-write", "`mul_` is called"),
        ("a.py", 4, "SIN001", "single-write", "`mul_` is called"),
    ]
    assert (status, err) == (2, "")


def test_third_party_rules_are_selected_ignored_and_suppressed_like_others(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    _, out, _ = _torchlint(installed, tmp_path, "check", "--select", "ACM", "--output-format", "concise")
    assert [line for line in out.splitlines() if line.startswith("a.py")] == [
        "a.py:4:1: warning[ACM001] `mul_` is called"
    ]
    (tmp_path / "a.py").write_text(PROGRAM.replace("(2)", "(2)  # torchlint: ignore[single-write, ACM]"))
    _, out, _ = _torchlint(installed, tmp_path, "check", "--output-format", "concise")
    assert "a.py" not in out


def test_third_party_rules_are_listed(installed: Path, tmp_path: Path) -> None:
    status, out, err = _torchlint(installed, tmp_path, "rules")
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines() if line.startswith(("ACM", "SIN"))] == [
        ["ACM001", "acme-write"],
        ["SIN001", "single-write"],
    ]
    assert err == "torchlint: entry point sick_plugin: no rules from `acme_sick`: RuntimeError: not today\n"
