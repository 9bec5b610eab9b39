"""The table of packages around torch: its rows against packaging, what a bound leaves, and pip."""

from __future__ import annotations

import json

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from torchlint.optable import companions as generator
from torchlint.project.companions import _BUILT_WITH, NAMES, companion
from torchlint.target import NEWEST, PATCHES, Release

ROWS = [
    (package, version, requirement)
    for package, said in json.loads(generator.TABLE.read_text(encoding="utf-8")).items()
    for version, requirement in said.items()
]


def test_every_package_has_rows() -> None:
    assert {package for package, _, _ in ROWS} == set(NAMES) == set(generator.PACKAGES)
    assert all((package, version) in {row[:2] for row in ROWS} for package, version in _BUILT_WITH)


@pytest.mark.parametrize(("package", "version", "requirement"), ROWS)
def test_a_pinned_version_leaves_what_its_wheel_asks_for(package: str, version: str, requirement: str) -> None:
    """By packaging, which the loader of the table does not ask."""
    said = Requirement((_BUILT_WITH.get((package, version), requirement) or "torch").replace(".*", ""))
    assert said.name == "torch"
    left = [release for release, last in PATCHES.items() if _allows(said.specifier, release, last)] or [NEWEST]
    found = companion(f"{package}=={version}")
    assert found is not None
    assert (found.oldest, found.newest) == (min(left), max(left))


def _allows(specifier: SpecifierSet, release: Release, last: int) -> bool:
    return any(f"{release[0]}.{release[1]}.{patch}" in specifier for patch in range(last + 1))


@pytest.mark.parametrize(
    ("requirement", "oldest", "newest"),
    [
        ("torchvision>=0.2", (0, 4), NEWEST),
        ("torchvision>=0.4.1,<0.5", (1, 3), (1, 3)),
        ("torchvision<0.16,>=0.15.2", (2, 0), (2, 0)),
        ("torchaudio>=0.3,<0.4", (1, 2), (1, 3)),
        ("torchaudio~=2.11.0", (2, 11), NEWEST),
        ("torchaudio<2.1", None, (2, 0)),
        ("torchvision<0.16", None, (2, 0)),
        ("lightning<2.0", None, NEWEST),
        ("pytorch-lightning>=1.5.4,<1.6", (1, 7), NEWEST),
        ("pytorch_lightning>=1.5", (1, 6), NEWEST),
        ("torchtext<0.9,>=0.8.1", (1, 7), (1, 7)),
    ],
)
def test_what_a_bound_leaves(requirement: str, oldest: Release | None, newest: Release) -> None:
    found = companion(requirement)
    assert found is not None
    assert (found.oldest, found.newest) == (oldest, newest)


@pytest.mark.corpus
def test_pip_says_the_same_today() -> None:
    assert generator.main(["--check", "--rows", "4", "--seed", "7"]) == 0
