"""
What one file of metadata leaves of the releases of torch: by its range, by what stands beside, and by its Pythons.

Knows what a file says (`Said`); which file counts is the business of `project.requirements`. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.project.companions import Companion
from torchlint.project.dependencies import AT_LEAST, Doubt, at_least, may_raise
from torchlint.project.pythons import before, can_hold, held_back, pythons, wheels
from torchlint.project.stated import asked_for, required, tidy
from torchlint.target import NEWEST, Extra, Release, TargetError, bounds, spelled

NAME = r"(?:pytorch|torch)"
REQUIREMENT = re.compile(
    rf"^\s*{NAME}(?:\[[^\]]*\])?\s*(?:\(\s*)?([<>=!~][^;#@)]*|)\s*\)?\s*(?:[;#].*)?$", re.IGNORECASE
)


class Said(NamedTuple):
    """What a file says."""

    specifier: str
    """Of torch; "" where the file only bounds what comes with it."""
    file: str
    beside: tuple[Companion, ...] = ()
    """Bounds on packages that come with torch, or ask for one."""
    on_macos: str = ""
    """Of torch, where the platform is macOS; "" if the file says nothing of that."""
    text: str = ""
    """What is in the file."""
    python: str = ""
    """Which Python it asks for, or is built for; "" if it does not say."""
    is_built: bool = False
    """That Python is the one that its compiled modules are for."""
    elsewhere: str = ""
    """The platform that alone these modules are for, if it is not Linux: "Windows", "macOS"."""


def later_on_macos(specifier: str, lower: Release) -> Release | None:
    """The release that a specifier for macOS alone begins with, where it is later than what is asked for everywhere."""
    try:
        there = bounds(specifier)[0] if specifier else None
    except TargetError:
        return None
    return there if there is not None and there > lower else None


def left(said: Said) -> tuple[Release | None, Release, str]:
    """
    What a file leaves of the releases: the oldest (None without a lower end), the newest, and what says so.

    Raises
    ------
    TargetError
        as `bounds`.
    """
    lower, upper = bounds(said.specifier) if said.specifier else (None, NEWEST)
    words = [f"torch{said.specifier}{_marker(said)}"] if said.specifier else []
    extra = _extra(said)
    if extra:
        words = [f"{words[0]} with the extra {extra}"]
        if _is_without_bound(said):  # who does not want the extra has any torch
            upper = NEWEST
            words = [f"torch, and {words[0]}"]
    for each in said.beside:
        oldest = each.oldest if lower is None or (each.oldest is not None and each.oldest > lower) else lower
        newest = min(upper, each.newest)
        told = said.specifier or each.is_of_release  # who names only a package that asks for torch leaves it open
        if (oldest, newest) != (lower, upper) and (oldest is None or oldest <= newest) and told:
            lower, upper = oldest, newest
            words.append(each.said)
    if lower is not None and any(each in said.text for each in AT_LEAST):
        least, requiring = min(map(at_least, _ways(said)))
        if lower < least <= upper:
            lower = least
            words.append(requiring)
    more = ""
    allowed = pythons(said.python)
    oldest, newest = wheels(allowed, not said.elsewhere)
    held, python = held_back(required(said.file, said.text)) if newest > wheels(before(8))[1] else ("", 0)
    if newest <= wheels(before(python or 10))[1]:
        held = ""
    if held:
        older = before(python, allowed)
        oldest, newest = wheels(older) if older else (oldest, newest)
    if lower is None:
        if newest < upper:
            upper = newest
            more = f"whose last torch is {spelled(newest)}"
    elif max(lower, oldest) <= min(upper, newest):
        if max(lower, oldest) != lower:
            more = f"whose first torch is {spelled(oldest)}"
        if min(upper, newest) != upper:
            more = f"{more} and last {spelled(newest)}" if more else f"whose last torch is {spelled(newest)}"
        lower, upper = max(lower, oldest), min(upper, newest)
    if more and held:
        words.append(held)
        more = f"for which Python is before 3.{python}, {more}"
    elif more and said.is_built:
        platform = f" on {said.elsewhere}" if said.elsewhere else ""
        more = f"compiled for Python {said.python.strip('=.*')}{platform}, {more}"
    elif more:
        words.append(f"Python{said.python}")
    where = f"{' and '.join(words)} in {said.file}" if words else said.file
    return lower, upper, f"{where}, {more}" if more else where


def _extra(said: Said) -> str:
    """The extra that asks for torch as a file is quoted, where nothing else in the file does; "" if there is none."""
    wanted = said.specifier.replace(" ", "")
    if not wanted or any(_asks(each, wanted) for each in required(said.file, said.text)):
        return ""
    extras = asked_for(said.file, said.text)
    return next((name for name, lines in extras.items() if any(_asks(each, wanted) for each in lines)), "")


def _marker(said: Said) -> str:
    """The markers under which alone a file asks for its range, as they are quoted: `; sys_platform == 'darwin'`."""
    if ";" not in said.text:
        return ""
    wanted = said.specifier.replace(" ", "")
    asking = [each.partition("#")[0] for each in required(said.file, said.text) if _asks(each, wanted)]
    markers = [each.partition(";")[2].strip() for each in asking]
    return f"; {' or '.join(dict.fromkeys(markers))}" if markers and all(markers) else ""


def _asks(requirement: str, wanted: str) -> bool:
    found = REQUIREMENT.match(requirement)
    return found is not None and tidy(found[1]) == wanted


def _is_without_bound(said: Said) -> bool:
    """Whether torch is required, whatever is asked of the file, and no release of it."""
    found = map(REQUIREMENT.match, required(said.file, said.text))
    return any(each is not None and not each[1].strip() for each in found)


def ends_by_python(name: str, text: str, asked: str) -> bool:
    """Whether a file that requires torch, or what has to do with it, leaves none of the newest, by Python or pins."""
    every = required(name, text)
    if not any("torch" in each for each in every):
        return False
    return wheels(pythons(asked))[1] < NEWEST or bool(held_back(every)[0])


def raising(said: Said, lower: Release) -> Doubt:
    """What the file requires that may ask for a later torch: nothing if torch can be had without any such thing."""
    doubts = [may_raise(each, lower) for each in _ways(said)]
    return min(doubts, key=lambda each: (bool(each.expected), bool(each.unknown)))


def extras(said: Said, lower: Release) -> tuple[Extra, ...]:
    """The extras of a file, where any of them begins later than the file's oldest release."""
    always = {_module(each) for each in required(said.file, said.text)}
    found: list[Extra] = []
    for name, lines in asked_for(said.file, said.text).items():
        least = lower
        for specifier in specifiers(lines):
            try:
                least = max(least, bounds(tidy(specifier))[0] or lower)
            except TargetError:
                continue
        found.append(Extra(_module(name), least, frozenset(map(_module, lines)) - always))
    return tuple(found) if any(each.oldest > lower for each in found) else ()


def _module(requirement: str) -> str:
    """The name by which what a requirement names is imported, if that is its own."""
    return re.split(r"[\s\[<>=!~;(@]", requirement.strip(), maxsplit=1)[0].lower().replace("-", "_").replace(".", "_")


def _ways(said: Said) -> list[list[str]]:
    """What is required, in each way in which torch can be had: if only extras ask for torch, with each of them."""
    always = required(said.file, said.text)
    if any(REQUIREMENT.match(each) for each in always):
        return [always]
    wanted = said.specifier.replace(" ", "")
    every = asked_for(said.file, said.text).values()
    asking = [each for each in every if any(wanted in line.replace(" ", "") for line in each)]
    return [[*always, *each] for each in asking] or [always]


def specifiers(requirements: Iterable[object], allowed: tuple[int, ...] = ()) -> Iterator[str]:
    """
    The versions of torch in requirements as PEP 508 writes them, a conda environment, or a constraint file; not what
    none of the allowed Pythons is asked for.
    """
    for each in requirements:
        found = REQUIREMENT.match(each) if isinstance(each, str) else None
        if found is not None and found[1].strip() and can_hold(found[0], allowed):
            yield found[1].strip()
