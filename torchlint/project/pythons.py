"""
Which Pythons a project runs on, and for which of them torch has wheels: on Python 3.12 there is no torch 1.13.

Specifiers and releases alone: which file says them is the business of `project.stated`.
"""

from __future__ import annotations

import re

from torchlint.target import NEWEST, PATCHES, Release

_FIRST: dict[int, Release] = {
    6: (0, 4), 7: (1, 0), 8: (1, 4), 9: (1, 7), 10: (1, 11), 11: (1, 13), 12: (2, 2), 13: (2, 5), 14: (2, 9),
}  # fmt: skip
"""By minor number of Python 3, the first release of torch that PyPI has a wheel of (`pip index versions torch`)."""
_LAST: dict[int, Release] = {6: (1, 10), 7: (1, 13), 8: (2, 4), 9: (2, 8)}
"""Likewise the last one; of those that are not here, the newest."""
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


def wheels(allowed: tuple[int, ...]) -> tuple[Release, Release]:
    """The oldest and the newest release of torch that there is a wheel of for any of some Pythons."""
    if not allowed:
        return min(PATCHES), NEWEST
    return _FIRST[min(allowed)], _LAST.get(max(allowed), NEWEST)


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
