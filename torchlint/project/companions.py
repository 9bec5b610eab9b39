"""
Packages that come with a release of torch, or ask for one: which releases a bound on one of them leaves.

From what the wheels of these packages require (`Requires-Dist`, as pip reports it). Reads no file, and knows no
project.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from torchlint.target import NEWEST, Release, release

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

_PINNED: dict[str, dict[str, str]] = {
    "torchvision": {
        "0.4.0": "1.2", "0.4": "1.3", "0.5": "1.4", "0.6": "1.5", "0.7": "1.6", "0.8": "1.7", "0.9": "1.8",
        "0.10": "1.9", "0.11": "1.10", "0.12": "1.11", "0.13": "1.12", "0.14": "1.13", "0.15": "2.0", "0.16": "2.1",
        "0.17": "2.2", "0.18": "2.3", "0.19": "2.4", "0.20": "2.5", "0.21": "2.6", "0.22": "2.7", "0.23": "2.8",
        "0.24": "2.9", "0.25": "2.10", "0.26": "2.11", "0.27": "2.12", "0.28": "2.13",
    },
    "torchaudio": {
        "0.4": "1.4", "0.5": "1.5", "0.6": "1.6", "0.7": "1.7", "0.8": "1.8", "0.9": "1.9", "0.10": "1.10",
        "0.11": "1.11", "0.12": "1.12", "0.13": "1.13", "2.0": "2.0", "2.1": "2.1", "2.2": "2.2", "2.3": "2.3",
        "2.4": "2.4", "2.5": "2.5", "2.6": "2.6", "2.7": "2.7", "2.8": "2.8", "2.9": "2.9", "2.10": "2.10",
    },
    "torchtext": {
        "0.9": "1.8", "0.10": "1.9", "0.11": "1.10", "0.12": "1.11", "0.13": "1.12", "0.14": "1.13", "0.15": "2.0",
        "0.16": "2.1", "0.17": "2.2",
    },
}  # fmt: skip
"""Versions, or all of a minor one, that require one release of torch and no other."""
_LIGHTNING = {
    "0.9": "1.3", "1.0": "1.3", "1.1": "1.3", "1.2": "1.4", "1.3": "1.4", "1.4": "1.6", "1.5": "1.6", "1.6": "1.8",
    "1.7": "1.9", "1.8": "1.9", "1.9": "1.10", "2.0": "1.11", "2.1": "1.12", "2.2": "1.13", "2.3": "2.0", "2.4": "2.1",
    "2.5": "2.1", "2.6": "2.1",
}  # fmt: skip
_AT_LEAST: dict[str, dict[str, str]] = {
    "torchvision": {"0.2": "0.4", "0.3": "1.1"},
    "torchaudio": {"2.11": "2.11"},  # asks for none, and is built with that one
    "torchtext": {"0.5": "0.4", "0.6": "0.4", "0.7": "0.4", "0.8": "0.4", "0.18": "2.3"},
    "pytorch-lightning": _LIGHTNING,
    "lightning": {version: least for version, least in _LIGHTNING.items() if version.startswith("2.")},
}
"""Versions that require a release of torch or any later one."""
NAMES = tuple(sorted(_AT_LEAST))
_REQUIREMENT = re.compile(
    rf"^\s*({'|'.join(NAMES)}|pytorch_lightning)(?:\[[^\]]*\])?\s*(?:\(\s*)?([<>=!~][^;#@)]*)\s*\)?\s*(?:[;#](.*))?$",
    re.IGNORECASE,
)
_MOST_PATCHES = 9


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
    ends = {each.operator for each in wanted} & {">=", ">", "~=", "==", "==="}
    return Companion(
        f"{name}{specifier}",
        min(low for low, _ in left) if ends else None,
        max(high for _, high in left),
        name not in ("lightning", "pytorch-lightning"),
    )


def _known(name: str) -> list[tuple[str, tuple[Release, Release]]]:
    """The versions that are known, with the oldest and the newest torch that each runs on; and one that may come."""
    pinned, least = _PINNED.get(name, {}), _AT_LEAST[name]
    found = [(version, (release(value),) * 2) for version, value in pinned.items()]
    found += [(version, (release(value), NEWEST)) for version, value in least.items()]
    major, minor = max(release(version) for version in (*pinned, *least))
    return [*found, (f"{major}.{minor + 1}", (NEWEST, NEWEST)), (f"{major + 1}.0", (NEWEST, NEWEST))]


def _allows(wanted: SpecifierSet, version: str) -> bool:
    """Whether a specifier allows a version, or any patch of a minor one."""
    patches = [version] if version.count(".") > 1 else [f"{version}.{patch}" for patch in range(_MOST_PATCHES)]
    return any(True for _ in wanted.filter(patches))
