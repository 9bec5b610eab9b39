"""A user's file is written whole or not at all, and only if it is what was read."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from torchlint.fixes import writing

BEFORE, AFTER = b"x = 1\n", b"x = 2\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "a.py"
    path.parent.mkdir()
    path.write_bytes(BEFORE)
    return path


def test_mode_and_links_stay(file: Path, tmp_path: Path) -> None:
    file.chmod(0o751)
    link = tmp_path / "link.py"
    link.symlink_to(file)
    writing.replace(str(link), BEFORE, AFTER)
    assert file.read_bytes() == AFTER
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert link.is_symlink()
    assert os.listdir(file.parent) == ["a.py"]


def test_a_relative_path(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    writing.replace("a.py", BEFORE, AFTER)
    assert os.listdir() == ["a.py"]
    assert file.read_bytes() == AFTER


def test_a_file_that_was_changed_stays(file: Path) -> None:
    with pytest.raises(writing.ChangedError):
        writing.replace(str(file), b"something else\n", AFTER)
    assert file.read_bytes() == BEFORE
    assert os.listdir(file.parent) == ["a.py"]


def test_a_file_that_is_gone_does_not_come_back(file: Path) -> None:
    file.unlink()
    with pytest.raises(FileNotFoundError):
        writing.replace(str(file), BEFORE, AFTER)
    assert os.listdir(file.parent) == []


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_full_disk_loses_nothing(file: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, where, full)
    with pytest.raises(OSError, match="No space left"):
        writing.replace(str(file), BEFORE, AFTER)
    assert file.read_bytes() == BEFORE
    assert os.listdir(file.parent) == ["a.py"]


def test_a_directory_that_may_not_be_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(PermissionError, match=f"Permission denied for a new file in .*{file.parent.name}"):
        writing.replace(str(file), BEFORE, AFTER)
    assert file.read_bytes() == BEFORE


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anything")
def test_a_read_only_file_stays(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(PermissionError):
        writing.replace(str(file), BEFORE, AFTER)
    assert file.read_bytes() == BEFORE
