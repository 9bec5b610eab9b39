"""Which Pythons a project runs on, and for which releases of torch they have wheels."""

from __future__ import annotations

import pytest

from torchlint.project.pythons import can_hold, held_back, pythons, wheels
from torchlint.target import NEWEST, PATCHES, Release


@pytest.mark.parametrize(
    ("specifier", "allowed"),
    [
        (">=3.8", range(8, 15)),
        (">3.6", range(6, 15)),
        (">=3.7,<3.10", range(7, 10)),
        (">=3.7.1,<4", range(7, 15)),
        ("~=3.9", range(9, 15)),
        ("<3.12,>=3.10,!=3.11.*", [10]),
        ("==3.8.*", [8]),
        ("<=3.9", range(6, 10)),
        (">=3.12,<3.13.1", [12, 13]),
        ("", ()),
        (">=3", ()),
        (">=2.7, !=3.0.*, !=3.1.*", range(6, 15)),
    ],
)
def test_what_a_specifier_allows(specifier: str, allowed: range) -> None:
    assert pythons(specifier) == tuple(allowed)


@pytest.mark.parametrize(
    ("specifier", "oldest", "newest"),
    [
        (">=3.12", (2, 2), NEWEST),
        (">=3.6,<3.9", (0, 4), (2, 4)),
        (">=3.9,<3.10", (1, 7), (2, 8)),
        ("", min(PATCHES), NEWEST),
    ],
)
def test_of_which_releases_there_are_wheels(specifier: str, oldest: Release, newest: Release) -> None:
    assert wheels(pythons(specifier)) == (oldest, newest)


@pytest.mark.parametrize(
    ("requirement", "holds"),
    [
        ("torch>=1.9 ; python_version < '3.10'", False),
        ("torch>=1.9 ; python_version <= '3.10'", True),
        ("torch>=1.9 ; (python_version >= '3.10')", True),
        ("torch>=1.9 ; python_version == '3.9'", False),
        ("torch>=1.9 ; python_version < '3.10' or extra == 'a'", True),
        ("torch>=1.9 ; sys_platform == 'linux'", True),
        ("torch>=1.9", True),
    ],
)
def test_what_a_marker_leaves(requirement: str, holds: bool) -> None:
    assert can_hold(requirement, pythons(">=3.10")) is holds


@pytest.mark.parametrize(
    ("requirement", "held"),
    [
        ("scipy~=1.6.3", True),
        ("scipy (==1.7.1)", True),
        ("numpy<1.21", True),
        ("pandas==1.2.*", True),
        ("pandas==1.*", False),
        ("numpy<=1.21.2", False),
        ("numpy~=1.20", False),
        ("numpy>=1.16", False),
        ("numba!=0.54.0", False),
        ("scikit_learn[alldeps]<1.0", True),
        ("numpy<1.21 ; python_version < '3.10'", False),
        ("requests==2.0", False),
    ],
)
def test_what_has_no_wheel_for_later_pythons(requirement: str, held: bool) -> None:
    assert held_back(["tqdm", requirement]) == ((requirement, 10) if held else ("", 0))


@pytest.mark.parametrize(
    ("required", "held"),
    [
        (["spacy>=2.1.7,<2.2.0"], ("spacy>=2.1.7,<2.2.0", 8)),
        (["spacy>=2.2,<2.3"], ("spacy>=2.2,<2.3", 10)),
        (["spacy>=2.2,<3"], ("", 0)),
        (["numpy<1.21", "spacy<2.2"], ("spacy<2.2", 8)),
        (["spacy<2.2", "numpy<1.21"], ("spacy<2.2", 8)),
    ],
)
def test_the_one_that_holds_back_most_counts(required: list[str], held: tuple[str, int]) -> None:
    assert held_back(required) == held
