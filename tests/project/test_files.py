"""Which files a path stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.config import ConfigError
from torchlint.project.files import find_files

pytestmark = pytest.mark.usefixtures("fresh_configuration")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(*paths: str, **texts: str) -> None:
    for path in (*paths, *texts):
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts.get(path, "import torch\n"))


def _files(*paths: str) -> list[str]:
    return find_files(paths or (".",)).files


def test_python_files_in_order_without_the_usual_folders() -> None:
    _write("b.py", "a.pyi", "c/d.py", "e.txt", "f.pyc", "build/x.py", ".venv/x.py", "c/__pycache__/x.py", "own/x.py")
    _write("own/pyvenv.cfg")
    assert _files() == ["a.pyi", "b.py", "c/d.py"]


def test_a_named_file_is_checked_whatever_it_is() -> None:
    _write("build/x.py", "script", ".gitignore")
    Path(".gitignore").write_text("*.py\n")
    assert _files("build/x.py", "script", "./build/x.py") == ["build/x.py", "script"]


def test_a_named_directory_is_searched_although_it_is_usually_left_out() -> None:
    _write("build/x.py", "build/build/y.py")
    assert _files("build") == ["build/x.py"]


def test_what_is_not_there() -> None:
    _write("a/b.txt", "c/d.py")
    found = find_files(("nowhere.py", "a", "c"))
    assert (found.files, found.missing, found.empty) == (["c/d.py"], ["nowhere.py"], ["a"])


def test_a_file_is_taken_once() -> None:
    _write("a/b.py", "a/c.py")
    assert _files("a/c.py", "a", "a/.") == ["a/c.py", "a/b.py"]


def test_gitignore_nested_negated_and_only_up_to_the_repository() -> None:
    _write(
        "outer.py",
        "repo/.git/HEAD",
        "repo/a.py",
        "repo/gen/b.py",
        "repo/sub/c.py",
        "repo/sub/keep.py",
        "repo/sub/gen/d.py",
    )
    Path(".gitignore").write_text("*.py\n")
    Path("repo/.gitignore").write_text("gen/\n/sub/*.py\n!keep.py\n")
    Path("repo/sub/.gitignore").write_text("!c.py\nkeep.py\n")
    assert _files("repo") == ["repo/a.py", "repo/sub/c.py"]
    assert _files("repo/sub") == ["repo/sub/c.py"]
    assert _files() == ["repo/a.py", "repo/sub/c.py"]


def test_an_ignored_directory_may_be_named() -> None:
    _write(".git/HEAD", "gen/a.py", "gen/b/c.py")
    Path(".gitignore").write_text("gen/\n")
    assert _files() == []
    assert _files("gen") == ["gen/a.py", "gen/b/c.py"]
    assert _files("gen/b") == ["gen/b/c.py"]


def test_exclude_and_extend_exclude() -> None:
    _write("a.py", "build/b.py", "old/c.py", "sub/old/d.py", "sub/e.py")
    Path("torchlint.toml").write_text('extend-exclude = ["old/", "sub/e.py"]\n')
    assert _files() == ["a.py"]
    assert _files("sub") == []
    assert _files("sub/e.py") == ["sub/e.py"]


def test_exclude_replaces_the_usual_ones() -> None:
    _write("a.py", "build/b.py")
    Path("torchlint.toml").write_text('exclude = ["a.*"]\n')
    assert _files() == ["build/b.py"]


def test_a_wrong_configuration_below_is_an_error() -> None:
    _write("a/b.py")
    Path("a/torchlint.toml").write_text("x = 1\n")
    with pytest.raises(ConfigError, match="unknown key `x`"):
        _files()


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links")
def test_symbolic_links() -> None:
    _write("real/a.py", "real/deep/b.py")
    os.symlink("a.py", "real/link.py")
    os.symlink("gone.py", "real/dangling.py")
    os.symlink(Path("real/deep").resolve(), "real/loop")
    os.symlink("self.py", "self.py")
    assert _files("real") == ["real/a.py", "real/deep/b.py", "real/link.py"]
    assert find_files(("self.py",)).files == ["self.py"]
