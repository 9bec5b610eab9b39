"""The options about the cache and about who works."""

from __future__ import annotations

from pathlib import Path

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
