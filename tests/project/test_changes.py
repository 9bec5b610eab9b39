"""Lines that have changed, as a real git tells them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from torchlint.config import ConfigError
from torchlint.project.changes import changed_lines, since


def _git(*arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit of three files."""
    monkeypatch.chdir(tmp_path)
    _git("init", "--quiet", "--initial-branch=main")
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text("".join(f"line {number}\n" for number in range(1, 10)))
    _git("add", "--all")
    _git("commit", "--quiet", "--message=first")
    return tmp_path


def test_changed_added_and_removed_lines(repository: Path) -> None:
    lines = Path("a.py").read_text().splitlines()
    lines[2] = "other"
    del lines[6]
    Path("a.py").write_text("\n".join(["new", *lines]) + "\n")
    changes = since("HEAD")
    assert changes.of("a.py") == {1, 4, 7, 8}
    assert changes.of("b.py") == frozenset()
    assert not changes.touches("b.py")
    assert changes.touches(str(repository / "a.py"))


def test_staged_committed_and_unknown_files(repository: Path) -> None:
    _git("checkout", "--quiet", "-b", "mine")
    Path("b.py").write_text("all new\n")
    _git("commit", "--quiet", "--all", "--message=second")
    Path('odd name \tü".py').write_text("x\n")
    _git("add", "--all")
    Path("unknown.py").write_text("x\n")
    Path(".gitignore").write_text("ignored.py\n")
    Path("ignored.py").write_text("x\n")
    changes = since("main")
    assert changes.of("b.py") == {1}
    assert changes.of('odd name \tü".py') == {1}
    assert changes.of("unknown.py") is None
    assert changes.touches("unknown.py")
    assert not changes.touches("ignored.py")


def test_what_main_did_meanwhile_is_not_mine(repository: Path) -> None:
    _git("checkout", "--quiet", "-b", "mine")
    Path("a.py").write_text("mine\n")
    _git("commit", "--quiet", "--all", "--message=mine")
    _git("checkout", "--quiet", "main")
    Path("b.py").write_text("theirs\n")
    _git("commit", "--quiet", "--all", "--message=theirs")
    _git("checkout", "--quiet", "mine")
    changes = since("main")
    assert changes.touches("a.py")
    assert not changes.touches("b.py")


def test_from_a_folder_inside(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("inner").mkdir()
    Path("inner/d.py").write_text("x\n")
    Path("a.py").unlink()
    Path("b.py").write_text("x\n")
    monkeypatch.chdir("inner")
    changes = since("HEAD")
    assert changes.of("d.py") is None
    assert changes.touches("../b.py")
    assert not changes.touches("../a.py")


def test_lines_that_look_like_the_diff_s_own() -> None:
    text = (
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +5,2 @@\n+++ b/y\n+@@ -1 +1 @@\n@@ -9 +12 @@ def f():\n-a\n+b\n"
    )
    assert list(changed_lines(text)) == [("x", frozenset({5, 6, 12}))]


@pytest.mark.parametrize("revision", ["nowhere", "--output=stolen", "HEAD~7", ""])
def test_no_such_revision(repository: Path, revision: str) -> None:
    with pytest.raises(ConfigError, match=r"--since: git knows no revision"):
        since(revision)
    assert not os.path.exists("stolen")


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ConfigError, match="not a git repository"):
        since("HEAD")


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="git cannot be run"):
        since("HEAD")
