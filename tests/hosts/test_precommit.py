"""A real `pre-commit run` that takes its hook from this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""
CONFIG = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: torchlint
        stages: [pre-commit]
      - id: torchlint-fix
        stages: [manual]
      - id: torchlint-verify
        stages: [pre-push]
"""


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    ran = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.fixture(scope="session")
def hook_repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """This checkout as it is now, committed to a repository of its own; and the commit."""
    folder = tmp_path_factory.mktemp("hook")
    listed = _git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in listed:
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "this checkout")
    return folder, _git(folder, "rev-parse", "HEAD")


@pytest.fixture
def project(tmp_path: Path, hook_repository: tuple[Path, str]) -> Path:
    """A repository that uses the hook, with one good and one bad file."""
    _git(tmp_path, "init", "--quiet")
    repository, revision = hook_repository
    (tmp_path / ".pre-commit-config.yaml").write_text(CONFIG.format(repository=repository, revision=revision))
    (tmp_path / "bad.py").write_text(OVERWRITTEN)
    (tmp_path / "notes.txt").write_text(OVERWRITTEN)
    _git(tmp_path, "add", "--all")
    return tmp_path


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit installs the hooks, once for all tests."""
    return tmp_path_factory.mktemp("pre-commit")


def _run(project: Path, home: Path, stage: str) -> tuple[int, str]:
    environment = {**os.environ, "PRE_COMMIT_HOME": str(home), "NO_COLOR": "1", "TORCHLINT_COMPILED": "0"}
    environment.pop("PYTHONPATH", None)
    # `torchlint` of the environment that pre-commit is run in
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--hook-stage", stage]
    ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=600)
    return ran.returncode, ran.stdout + ran.stderr


def test_the_hook_reports_and_then_passes(project: Path, home: Path) -> None:
    status, out = _run(project, home, "pre-commit")
    assert status == 1, out
    assert "hook id: torchlint" in out
    assert "bad.py:5:1: error[TLN201]" in out
    assert "notes.txt" not in out
    (project / "bad.py").write_text(OVERWRITTEN.replace("y.mul_(2)", "y = y * 2"))
    status, out = _run(project, home, "pre-commit")
    assert status == 0, out
    assert "Passed" in out


def test_the_hook_that_fixes(project: Path, home: Path) -> None:
    needless = OVERWRITTEN.replace("y.mul_(2)\ny.sum().backward()", "y.sum().backward(retain_graph=True)")
    (project / "bad.py").write_text(needless)
    status, out = _run(project, home, "manual")
    assert status == 1, out
    assert "files were modified by this hook" in out
    assert (project / "bad.py").read_text() == needless.replace("retain_graph=True", "")
    status, out = _run(project, home, "manual")
    assert status == 0, out


def test_the_hook_that_runs_programs(project: Path, home: Path) -> None:
    status, out = _run(project, home, "pre-push")
    assert status == 1, out
    assert "torch: confirmed" in out
    assert "modified by an inplace operation" in out
