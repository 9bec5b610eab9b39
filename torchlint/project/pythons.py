"""
Which Pythons a project runs on, and for which of them torch has wheels: on Python 3.12 there is no torch 1.13.

Specifiers and releases alone: which file says them is the business of `project.stated`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.target import LAST_FOR, NEWEST, PATCHES, Release

if TYPE_CHECKING:
    from packaging.version import Version

_FIRST: dict[int, Release] = {
    6: (0, 4), 7: (1, 0), 8: (1, 4), 9: (1, 7), 10: (1, 11), 11: (1, 13), 12: (2, 2), 13: (2, 5), 14: (2, 9),
}  # fmt: skip
"""By minor number of Python 3, the first release of torch that PyPI has a wheel of (`pip index versions torch`)."""
_FIRST_ELSEWHERE: dict[int, Release] = {11: (2, 0), 13: (2, 6)}
"""Likewise of a wheel for Windows or macOS, where that came later than the one for Linux."""
_NEVER = 99
_ON_3_10 = {
    "dm-tree": "0.1.6", "faiss-cpu": "1.7.2", "grpcio": "1.41.0", "h5py": "3.6.0", "llvmlite": "0.38.0",
    "matplotlib": "3.5.0", "numba": "0.55.0", "numexpr": "2.8.0", "numpy": "1.21.2", "onnx": "1.12.0",
    "onnxruntime": "1.12.0", "pandas": "1.3.3", "pyarrow": "6.0.0", "ray": "1.13.0", "scikit-image": "0.19.0",
    "scikit-learn": "1.0.2", "scipy": "1.7.2", "spacy": "2.3.8", "statsmodels": "0.13.1", "tables": "3.7.0",
    "tensorflow": "2.8.0", "tensorflow-gpu": "2.8.0", "tokenizers": "0.11.3",
}  # fmt: skip
"""Packages with compiled code: the first release that PyPI has a wheel of for Python 3.10 (their files there)."""
_ON_3_8 = {"spacy": "2.2.2"}
"""Likewise for Python 3.8."""
_PINNED = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*([<>=!~][^;)]*)\)?\s*")
_PART = re.compile(r"\s*(<=|>=|<|>|==|!=|~=)\s*3(?:\.(\d+))?(\.\d+|\.\*)?\s*", re.ASCII)
_MARKER = re.compile(r"\s*python_(?:full_)?version\s*(<=|<|==|>=|>)\s*[\"'](\d+)\.(\d+)[^\"']*[\"']\s*")


def pythons(specifier: str) -> tuple[int, ...]:
    """
    The minor numbers of Python 3 that a specifier allows; empty where it says nothing that is understood.

    Parameters
    ----------
    specifier
        ">=3.8", ">=3.7,<3.11", "~=3.9".
    """
    left = list(_FIRST)
    understood = False
    for part in specifier.split(","):
        found = _PART.fullmatch(part)
        if found is None or found[2] is None:  # "<4", ">=3": nothing is left out
            continue
        understood = True
        minor, more = int(found[2]), found[3] or ""
        whole = more in ("", ".0", ".*")
        left = [each for each in left if _allows(found[1], each, minor, whole)]
    return tuple(left) if understood else ()


def _allows(operator: str, python: int, minor: int, whole: bool) -> bool:
    """Whether any patch of a minor version is in one part of a specifier, which names another one, or a patch of it."""
    if operator in (">=", ">", "~="):
        return python >= minor
    if operator == "<":
        return python < minor or (python == minor and not whole)
    if operator == "<=":
        return python <= minor
    return python == minor if operator == "==" else python != minor or not whole


def wheels(allowed: tuple[int, ...], for_linux: bool = True) -> tuple[Release, Release]:
    """
    The oldest and the newest release of torch that there is a wheel of for any of some Pythons: on Linux, if what is
    asked about may run there, or else on Windows and macOS.
    """
    if not allowed:
        return min(PATCHES), NEWEST
    first = _FIRST if for_linux else _FIRST | _FIRST_ELSEWHERE
    return min(first[each] for each in allowed), LAST_FOR.get(max(allowed), NEWEST)


def held_back(requirements: Iterable[str]) -> tuple[str, int]:
    """
    What allows only releases that have no wheel for Python 3.8, or else 3.10, and so no newer torch than the Python
    before has, with the minor number of that Python; ("", 0) if nothing does.

    Parameters
    ----------
    requirements
        As PEP 508 writes them; one with a marker may not count, and holds nothing back.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # only who states a range pays for it
    from packaging.version import Version

    held = "", 0
    for each in requirements:
        found = _PINNED.fullmatch(each)
        name = re.sub(r"[-_.]+", "-", found[1]).lower() if found is not None else ""
        if found is None or name not in _ON_3_10:
            continue
        try:
            ends = list(SpecifierSet(found[2].strip()))
        except InvalidSpecifier:
            continue
        for python, first in ((8, _ON_3_8.get(name)), (10, _ON_3_10[name])):
            if first and any(_ends_before(end.operator, end.version, Version(first)) for end in ends):
                held = min(held, (each.strip(), python), key=lambda said: said[1] or _NEVER)
                break
    return held


def _ends_before(operator: str, version: str, first: Version) -> bool:
    """Whether one part of a specifier leaves nothing from a version on."""
    from packaging.version import Version

    release = Version(version.removesuffix(".*")).release
    if operator == "~=":
        release = release[:-1]
    if operator == "~=" or version.endswith(".*"):  # any that begins so
        return operator in ("~=", "==") and release < first.release[: len(release)]
    if operator == "<":
        return Version(version) <= first
    return operator in ("==", "<=", "===") and Version(version) < first


def before(python: int, allowed: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Those of some Pythons, or of all if there are none, that come before one."""
    return tuple(each for each in allowed or _FIRST if each < python)


def can_hold(requirement: str, allowed: tuple[int, ...]) -> bool:
    """Whether a requirement with a marker about Python counts for any of some Pythons; any other marker may hold."""
    marker = requirement.partition(";")[2].strip()
    found = _MARKER.fullmatch(marker.removeprefix("(").removesuffix(")")) if marker and allowed else None
    if found is None or found[2] != "3":
        return True
    return any(_holds(found[1], each, int(found[3])) for each in allowed)


def _holds(operator: str, python: int, minor: int) -> bool:
    if operator in ("<", "<="):
        return python < minor or (operator == "<=" and python == minor)
    return python == minor if operator == "==" else python > minor or (operator == ">=" and python == minor)
