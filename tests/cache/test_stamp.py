"""What is installed, without loading what Python has for that: never less than Python finds."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from torchlint.cache.stamp import may_have_entry_points

GROUP = "torchlint.rules.of.this.test"
TEXT = f"[{GROUP}]\nthis = os.path\n"


def _distribution(folder: Path, text: str, suffix: str = ".dist-info") -> None:
    inside = folder / f"some_rules-1.0{suffix}"
    inside.mkdir(parents=True)
    (inside / ("METADATA" if suffix == ".dist-info" else "PKG-INFO")).write_text("Name: some-rules\nVersion: 1.0\n")
    (inside / "entry_points.txt").write_text(text)


def _agree(expected: bool) -> None:
    assert bool(importlib.metadata.entry_points(group=GROUP)) is expected
    assert may_have_entry_points(GROUP) is expected


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Only Python's own finders and directories: pytest and editable installs may have others, and the package
    `importlib_metadata`, once loaded, takes from Python's own what it finds distributions with.
    """
    own = sys.meta_path[_path_finder()]
    find = staticmethod(importlib.metadata.MetadataPathFinder.find_distributions)
    monkeypatch.setattr(own, "find_distributions", find, raising=False)
    others = [each for each in sys.meta_path if not hasattr(each, "find_distributions")]
    monkeypatch.setattr(sys, "meta_path", [*others, own])
    monkeypatch.setattr(sys, "path", [each for each in sys.path if Path(each).is_dir()])


def _path_finder() -> int:
    return next(number for number, each in enumerate(sys.meta_path) if getattr(each, "__name__", "") == "PathFinder")


@pytest.mark.parametrize("suffix", [".dist-info", ".egg-info"])
def test_a_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    _agree(False)
    _distribution(tmp_path / "one", TEXT, suffix)
    _distribution(tmp_path / "two", "[console_scripts]\nthis = os.path\n", suffix)
    monkeypatch.syspath_prepend(str(tmp_path / "two"))
    _agree(False)
    monkeypatch.syspath_prepend(str(tmp_path / "one"))
    _agree(True)


def test_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _distribution(tmp_path, TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    _agree(True)


def test_an_egg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    egg = tmp_path / "some_rules-1.0.egg"
    (egg / "EGG-INFO").mkdir(parents=True)
    (egg / "EGG-INFO" / "PKG-INFO").write_text("Name: some-rules\nVersion: 1.0\n")
    (egg / "EGG-INFO" / "entry_points.txt").write_text(TEXT)
    monkeypatch.syspath_prepend(str(egg))
    _agree(True)


def test_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "rules.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("some_rules-1.0.dist-info/METADATA", "Name: some-rules\nVersion: 1.0\n")
        file.writestr("some_rules-1.0.dist-info/entry_points.txt", TEXT)
    monkeypatch.syspath_prepend(str(archive))
    _agree(True)


def test_a_finder_of_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Distribution(importlib.metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            return {"entry_points.txt": TEXT, "METADATA": "Name: some-rules\nVersion: 1.0\n"}.get(filename)

        def locate_file(self, path: object) -> Path:  # type: ignore[override]
            return Path(str(path))

    class Finder(importlib.metadata.DistributionFinder):
        def find_distributions(self, context: object = None) -> list[Distribution]:  # type: ignore[override]
            return [Distribution()]

        def find_spec(self, *_: object) -> None:
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    _agree(True)


def test_loading_the_rules_does_not_load_what_lists_distributions() -> None:
    program = (
        "import sys; from torchlint.cache import stamp; from torchlint.lint import registry; registry.load();"
        "print(stamp.may_have_entry_points('torchlint.rules'), 'importlib.metadata' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    may, loaded = ran.stdout.split()
    assert may == loaded
