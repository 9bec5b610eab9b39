"""
The range of torch releases that a program has to run on, and where that was said.

Only data and comparisons of releases: which files of a project say it is the business of `project.requirements`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from torchlint.record import record

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

Release: TypeAlias = "tuple[int, int]"
"""Major and minor number: what the API of torch changes with."""

PATCHES: dict[Release, int] = {
    (0, 4): 1, (1, 0): 1, (1, 1): 0, (1, 2): 0, (1, 3): 1, (1, 4): 0, (1, 5): 1, (1, 6): 0, (1, 7): 1, (1, 8): 1,
    (1, 9): 1, (1, 10): 2, (1, 11): 0, (1, 12): 1, (1, 13): 1, (2, 0): 1, (2, 1): 2, (2, 2): 2, (2, 3): 1, (2, 4): 1,
    (2, 5): 1, (2, 6): 0, (2, 7): 1, (2, 8): 0, (2, 9): 1, (2, 10): 0, (2, 11): 0, (2, 12): 1, (2, 13): 0,
}  # fmt: skip
"""The releases that torchlint knows, each with the last of its patches."""
NEWEST: Release = max(PATCHES)
LAST_FOR: dict[int, Release] = {6: (1, 10), 7: (1, 13), 8: (2, 4), 9: (2, 8)}
"""
By minor number of Python 3, the last release of torch that PyPI has a wheel of (`pip index versions torch`); of those
that are not here, the newest.
"""


class TargetError(ValueError):
    """A range that cannot be read, or that no release lies in: says which, and what is expected."""


def release(text: str) -> Release:
    """The release that a text such as "2.1" names."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def spelled(of: Release) -> str:
    """A release as people write it."""
    return f"{of[0]}.{of[1]}"


@record(frozen=True)
class Extra:
    """
    What a project asks for where more of it is wanted.

    Attributes
    ----------
    name
        Of the extra, as a module may be called: "examples".
    oldest
        The oldest torch that it leaves, the project's own bound among it.
    brings
        The packages that only extras ask for, and this one does, as they are imported.
    """

    name: str
    oldest: Release
    brings: frozenset[str] = frozenset()


@record(frozen=True)
class Target:
    """
    A range of releases.

    Attributes
    ----------
    oldest, newest
        Both are in it.
    said
        What said so, to be shown ("torch>=1.13 in pyproject.toml"); "" where nobody did, and the newest known is meant.
    torchvision
        What the same file says of torchvision, likewise; "" if it says nothing.
    on_macos
        The oldest release on macOS, where the same file asks for a later one there; None if it does not.
    raised_by
        A package of torch's world that the same file requires, and that may ask for a later torch than the oldest; ""
        if there is none.
    held_by
        Such a package, with its bound, that the same file requires and that may refuse the newest torch; likewise.
    perhaps_raised_by, perhaps_held_by
        The same of a package of which nothing is known: it may, but most such packages have nothing to do with torch.
    extras
        What the same file asks for where more is wanted, if any of them begins later than the oldest.
    python
        The minor number of the oldest Python 3 that the same file allows; 0 if it says nothing.
    """

    oldest: Release = NEWEST
    newest: Release = NEWEST
    said: str = ""
    torchvision: str = ""
    on_macos: Release | None = None
    raised_by: str = ""
    held_by: str = ""
    perhaps_raised_by: str = ""
    perhaps_held_by: str = ""
    extras: tuple[Extra, ...] = ()
    python: int = 0

    def with_python(self, of: Release) -> str:
        """A release as the lower end of the range, with the Python that it needs if an older one is allowed."""
        older = [minor for minor, last in LAST_FOR.items() if last < of]
        needed = max(older, default=0) + 1
        return f"{spelled(of)}, which needs Python 3.{needed}" if 0 < self.python < needed else spelled(of)

    def lacks(self, name: str, came: Release) -> bool:
        """Whether the range holds a release before a name of torch came, where that can be used at all."""
        only_there = name.startswith(("torch.mps.", "torch.backends.mps."))
        return came > (self.on_macos if only_there and self.on_macos is not None else self.oldest)

    def reaches(self, other: Release | None) -> bool:
        """Whether the range holds a release, or a later one."""
        return other is not None and self.newest >= other

    def begins_before(self, other: Release | None) -> bool:
        """Whether the range holds an earlier release."""
        return other is not None and self.oldest < other

    def spans(self, other: Release | None) -> bool:
        """Whether the range holds a release, or a later one, and an earlier one."""
        return self.reaches(other) and self.begins_before(other)

    def needed_by(self, imported: Iterable[str]) -> Release:
        """
        The oldest release with which some packages can be imported, as only extras bring them that begin with it; (0,
        0) if they say nothing.
        """
        brought = {each: [extra.oldest for extra in self.extras if each in extra.brings] for each in imported}
        return max((min(each) for each in brought.values() if each), default=(0, 0))

    def extra_of(self, module: str) -> Extra | None:
        """The extra that a file is for by its name, or by that of a folder of it: `pkg_examples.train`, `pkg.onnx`."""
        parts = module.split(".")
        named = (each for each in self.extras if any(f"_{part}".endswith(f"_{each.name}") for part in parts))
        return next(named, None)

    def allowing(self, one: Release) -> str:
        """Why a release counts, as the second half of a sentence; "" where nobody said anything."""
        return f", and this project allows {spelled(one)} ({self.said})" if self.said else ""


def target_of(asked: str, said: str) -> Target:
    """
    The range that a specifier of versions stands for; a bare version is the oldest that is meant.

    Parameters
    ----------
    asked
        "2.4", ">=2.1,<3", "==2.1.2+cpu", "~=2.0".
    said
        What said so. Of a range that begins after the newest known release nothing is said: that release is not in
        it, and stands for it.

    Raises
    ------
    TargetError
        if that is no range, or one that no release up to the newest known lies in.
    """
    lower, upper, is_to_come = _bounds(asked)
    return Target(upper if lower is None else lower, upper, "" if is_to_come else said)


def bounds(asked: str) -> tuple[Release | None, Release]:
    """
    The oldest and the newest release of a range; the oldest is None where the range has no lower end.

    Raises
    ------
    TargetError
        as `target_of`.
    """
    lower, upper, _ = _bounds(asked)
    return lower, upper


def _bounds(asked: str) -> tuple[Release | None, Release, bool]:
    """As `bounds`, and whether the range begins after the newest known release, which then stands for it."""
    plain = _FROM.fullmatch(asked.strip())
    if plain is not None:
        oldest = tuple(int(each or 0) for each in plain.groups())
        later = [known for known, last in PATCHES.items() if (*known, last) >= oldest]
        if later:
            return min(later), max(later), False
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # only who states another range pays for it
    from packaging.version import Version

    parts = [part.strip() for part in asked.split(",") if part.strip()]
    text = ",".join(f">={part}" if part[:1].isdigit() else part.partition("+")[0] for part in parts)
    try:
        wanted = SpecifierSet(text)
        first = [Version(each.version.removesuffix(".*")) for each in wanted if each.operator in _FROM_BELOW]
    except InvalidSpecifier:
        raise TargetError(f"{asked!r} is no range of versions, such as '2.4' or '>=2.1,<3'") from None
    if not parts:
        raise TargetError("no range of versions, such as '2.4' or '>=2.1,<3'")
    allowed = [known for known in PATCHES if any(True for _ in wanted.filter(_versions(known)))]
    if not allowed and first and max(first).release[:2] > NEWEST and _later(wanted, max(first)):
        return NEWEST, NEWEST, True
    if not allowed:
        raise TargetError(f"no release of torch up to {spelled(NEWEST)} lies in {asked!r}")
    return (min(allowed) if first else None), max(allowed), False


_FROM = re.compile(r"(?:>=[ \t]*)?(\d+)\.(\d+)(?:\.(\d+))?", re.ASCII)
"""What most projects say: `>=2.1`, which needs no `packaging` (ten milliseconds of a run)."""


def _later(wanted: SpecifierSet, first: Version) -> bool:
    """Whether a range that holds no known release holds one that may come: not `>=3,<2`."""
    major, minor = (*first.release, 0)[:2]
    return any(True for _ in wanted.filter([str(first), f"{major}.{minor + 1}", f"{major + 1}.0"]))


_FROM_BELOW = frozenset({">=", ">", "~=", "==", "==="})


def _versions(known: Release) -> Iterable[str]:
    return (f"{spelled(known)}.{patch}" for patch in range(PATCHES[known] + 1))
