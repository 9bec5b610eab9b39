"""
Packages that come with a release of torch, or ask for one: which releases a bound on one of them leaves.

From what the wheels of these packages require (`Requires-Dist`), release by release: `knowledge/api/companions.json`,
which `torchlint.optable.companions` writes. Reads no file of a project, and knows no project.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchlint.target import NEWEST, PATCHES, Release, release, spelled

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

NAMES = ("lightning", "pytorch-lightning", "torchaudio", "torchtext", "torchvision")
_TABLE = Path(__file__).parents[1] / "knowledge/api/companions.json"
_BUILT_WITH = {("torchaudio", "2.11.0"): "torch>=2.11"}
"""Wheels that ask for no torch, and hold libraries that were built with this one."""
_BOUND = re.compile(r"(==|>=)\s*(\d+\.\d+)")
_OLDEST: Release = min(PATCHES)
_REQUIREMENT = re.compile(
    rf"^\s*({'|'.join(NAMES)}|pytorch_lightning)(?:\[[^\]]*\])?\s*(?:\(\s*)?([<>=!~][^;#@)]*)\s*\)?\s*(?:[;#](.*))?$",
    re.IGNORECASE,
)
_MOST_PATCHES = 20


class Companion(NamedTuple):
    """
    A bound on a package that comes with torch.

    Attributes
    ----------
    said
        As it is written: "torchvision<0.16,>=0.15.2".
    oldest
        The oldest release of torch that it leaves; None where it has no lower end.
    newest
        The newest one.
    is_of_release
        The package comes with a release, and with each release another version of it.
    """

    said: str
    oldest: Release | None
    newest: Release
    is_of_release: bool


def companion(requirement: str) -> Companion | None:
    """
    What a requirement as PEP 508 writes it leaves; None where it is of another package, or of an extra, bounds nothing,
    or allows nothing that is known.
    """
    found = _REQUIREMENT.match(requirement)
    if found is None or "extra" in (found[3] or ""):
        return None
    name, specifier = found[1].lower().replace("_", "-"), found[2].strip()
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # only who states a range pays for it

    try:
        wanted = SpecifierSet(specifier)
    except InvalidSpecifier:
        return None
    left = [between for version, between in _known(name) if _allows(wanted, version)]
    if not left:
        return None
    pinned = [high for low, high in left if low == high]  # who pins a release comes with it, and the newest is taken
    ends = {each.operator for each in wanted} & {">=", ">", "~=", "==", "==="}
    return Companion(
        f"{name}{specifier}",
        min(low for low, _ in left) if ends else None,
        max(pinned or [high for _, high in left]),
        name not in ("lightning", "pytorch-lightning"),
    )


@cache
def _table() -> dict[str, dict[str, str]]:
    read: dict[str, dict[str, str]] = json.loads(_TABLE.read_text(encoding="utf-8"))
    return read


@cache
def _known(name: str) -> list[tuple[str, tuple[Release, Release]]]:
    """
    The versions that are known, with the oldest and the newest torch that each runs on: all of a minor one where they
    agree, else each. Those before them, and one that may come, ask for nothing that is known.
    """
    minors: dict[Release, dict[str, tuple[Release, Release]]] = {}
    for version, requirement in _table()[name].items():
        left = _left(_BUILT_WITH.get((name, version), requirement))
        minors.setdefault(release(version), {})[version] = left
    found: list[tuple[str, tuple[Release, Release]]] = []
    for minor, patches in minors.items():
        agree = len(set(patches.values())) == 1
        found += [(spelled(minor), left) for left in set(patches.values())] if agree else patches.items()
    (first, second), (major, minor_) = min(minors), max(minors)
    before = [(f"{first}.{second - 1}", (_OLDEST, NEWEST))] if second else []
    return [*before, *found, (f"{major}.{minor_ + 1}", (NEWEST, NEWEST)), (f"{major + 1}.0", (NEWEST, NEWEST))]


def _left(requirement: str) -> tuple[Release, Release]:
    """The oldest and the newest torch that a requirement leaves; what is newer than all that is known is the newest."""
    bound = _BOUND.search(requirement)
    if bound is None:
        return _OLDEST, NEWEST
    least = min(release(bound[2]), NEWEST)
    return least, least if bound[1] == "==" else NEWEST


def _allows(wanted: SpecifierSet, version: str) -> bool:
    """Whether a specifier allows a version, or any patch of a minor one."""
    patches = [version] if version.count(".") > 1 else [f"{version}.{patch}" for patch in range(_MOST_PATCHES)]
    return any(True for _ in wanted.filter(patches))
