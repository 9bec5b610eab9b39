"""
The programs of `programs/`, linted side by side in an empty folder: each is found, or what it needs stands here.

The name of a program tells the code that one would expect. They are `.txt` so that nothing but this test takes them for
a part of the project.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.threads.measure import Said, lint

FOLDER = Path(__file__).parent / "programs"
BESIDE = {
    "tln109_leaf_moved": {"TLN306"},
    "tln206_overlapping_copy": {"TLN215"},
    "tln212_index_write_into_a_copy": {"TLN214"},
}
"""Codes that are as right as the one in the name."""
MISSED = {
    "tln201_plain_function": "needs the condition 'where `x` requires grad' for a plain function",
    "tln407_eval_at_the_head_of_the_loop": "`validate` is given the model, and may set it back to training",
}
"""What each that is silent needs, as far as that is known. Who cures one takes it out."""
PARTS = {"tln601_across_files_model"}
"""What others import; nothing is wrong in it."""
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Said]]:
    folder = tmp_path_factory.mktemp("reported")
    paths = []
    for name in NAMES:
        path = folder / f"{name}.py"
        path.write_text((FOLDER / f"{name}.txt").read_text(encoding="utf-8"), encoding="utf-8")
        paths.append(path)
    return lint(paths)


@pytest.mark.parametrize("name", [each for each in NAMES if each not in PARTS])
def test_it_is_found_or_its_reason_stands_here(name: str, said: dict[str, list[Said]]) -> None:
    codes = {name.partition("_")[0].upper()} | BESIDE.get(name, set())
    found = any(each.code in codes for each in said[f"{name}.py"])
    assert found == (name not in MISSED), [str(each) for each in said[f"{name}.py"]]


def test_every_reason_is_of_a_program() -> None:
    assert set(MISSED) | set(BESIDE) | PARTS <= set(NAMES)
