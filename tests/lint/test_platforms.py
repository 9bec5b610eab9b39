"""Where processes are spawned depends on where a project runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

TEXT = """from torch.utils.data import DataLoader

def loader(data):
    return DataLoader(data, num_workers=2, collate_fn=lambda batch: batch)

for batch in DataLoader(range(4), num_workers=2):
    print(batch)
"""
PYPROJECT = "[project]\nname = 'net'\nrequires-python = '{python}'\nclassifiers = [{classifiers}]\n"
ENDS, LISTED = ">=3.10,<3.14", "'Programming Language :: Python :: 3.12'"
LINUX, ANY = "'Operating System :: POSIX :: Linux'", "'Operating System :: OS Independent'"


@pytest.mark.parametrize(
    ("python", "classifiers", "where"),
    [
        (">=3.10", "", "macOS, Windows, Linux from Python 3.14"),
        (ENDS, "", "macOS, Windows"),
        (">=3.10", LISTED, "macOS, Windows"),
        (">=3.10", f"{LISTED}, 'Programming Language :: Python :: 3.14'", "macOS, Windows, Linux from Python 3.14"),
        (">=3.10", LINUX, "Linux from Python 3.14"),
        (ENDS, f"{LINUX}, {ANY}", "macOS, Windows"),
        (ENDS, LINUX, ""),
    ],
)
def test_the_platforms_of_a_project(tmp_path: Path, python: str, classifiers: str, where: str) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.format(python=python, classifiers=classifiers))
    (tmp_path / "net").mkdir()
    found = lint(TEXT, path=str(tmp_path / "net" / "train.py"), codes=["TLN805", "TLN806"]).findings
    assert [each.code for each in found] == ["TLN805", "TLN806"] * bool(where)
    assert all(f"({where})" in each.message for each in found)


def test_the_platforms_of_a_wheel(tmp_path: Path) -> None:
    (tmp_path / "net-1.dist-info").mkdir()
    (tmp_path / "net-1.dist-info" / "METADATA").write_text("Name: net\nRequires-Python: >=3.10,<3.14\n\nText.\n")
    (tmp_path / "net").mkdir()
    [found] = lint(TEXT, path=str(tmp_path / "net" / "train.py"), codes=["TLN805"]).findings
    assert "(macOS, Windows)" in found.message


def test_who_says_how_processes_are_started_means_all_platforms(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.format(python=ENDS, classifiers=LINUX))
    text = TEXT.replace("2, collate_fn", "2, multiprocessing_context='spawn', collate_fn")
    [found] = lint(text, path=str(tmp_path / "train.py"), codes=["TLN805"]).findings
    assert "cannot be sent to workers" in found.message
