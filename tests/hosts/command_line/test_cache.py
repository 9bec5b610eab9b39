"""The options about the cache and about who works."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from process import Torchlint


def test_the_cache_is_made_used_and_removed(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    first = torchlint("check")
    assert Path(".torchlint_cache").is_dir()
    assert torchlint("check") == first
    assert "Removed " in torchlint("clean").out
    assert not Path(".torchlint_cache").exists()
    assert "Nothing to remove" in torchlint("clean").out


def test_without_it_and_elsewhere(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    torchlint("check", "--no-cache")
    torchlint("check", "--statistics")
    assert sorted(path.name for path in Path().iterdir()) == ["a.py"]
    torchlint("check", "--cache-dir", "own")
    torchlint("check", TORCHLINT_CACHE_DIR="other")
    assert sorted(path.name for path in Path().iterdir()) == ["a.py", "other", "own"]
    torchlint("clean", "--cache-dir", "own")
    assert not Path("own").exists()


def test_its_own_folder_is_not_linted(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    torchlint("check")
    Path(".torchlint_cache/b.py").write_text(overwritten)
    assert "Found 1 error" in torchlint("check").out


def test_an_executor_that_is_none(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check", "--executor", "ray://somewhere")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "torchlint: --executor: `ray://somewhere` is not of the form dask://HOST:PORT\n"


def test_a_folder_of_the_users_stays_as_it_is(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    os.mkdir("answers")
    for number in range(30):
        Path(f"answers/{number:08x}").write_text("mine")
    before = _below(".")
    for _ in range(2):
        assert torchlint("check", "--cache-dir", ".").status == 1
    assert not Path(".gitignore").exists()
    assert not Path("CACHEDIR.TAG").exists()
    ran = torchlint("clean", "--cache-dir", ".")
    assert "; what else is in it stays" in ran.out
    assert _below(".") == before
    assert torchlint("clean", "--cache-dir", ".").out.startswith("Nothing to remove in ")
    assert _below(".") == before


@pytest.mark.parametrize("kind", ["database", "text", "directory"])
def test_a_file_of_the_users_is_not_taken_over(torchlint: Torchlint, overwritten: str, kind: str) -> None:
    Path("a.py").write_text(overwritten)
    os.mkdir("data")
    own = Path("data/results.sqlite")
    if kind == "database":
        with closing(sqlite3.connect(own)) as connection, connection:
            connection.execute("CREATE TABLE experiment (seed INTEGER)")
    elif kind == "text":
        own.write_text("not a database at all\n" * 10)
    else:
        own.mkdir()
    before = _below("data")
    ran = torchlint("check", "--cache-dir", "data")
    assert ran.status == 1
    assert ran.err.endswith("results.sqlite is not torchlint's: no results are kept\n")
    assert torchlint("clean", "--cache-dir", "data").out.startswith("Nothing to remove in ")
    assert _below("data") == before


def _below(directory: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(directory).rglob("*") if path.is_file()}
