"""
What changed in torch's API from release to release.

The facts come from `changes.json`, which `python -m torchlint.optable.api` generates from the sources of torch's own
releases (see docs/api-changes.md) and which is read at the first question. Here is only the reading of it, and which of
the facts concern a range of releases. It never imports torch, and it does not know what a program refers to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from torchlint.knowledge.api.arguments import Argument, Unsaid
from torchlint.target import NEWEST, PATCHES, Release, Target, release, spelled

TABLE = Path(__file__).with_name("changes.json")
PACKAGES = frozenset({"torch", "functorch", "torchvision"})
_YOUNG = 3
"""Releases, of which there are four to six a year."""
_LATELY: Release = (2, 0)
"""A release before which few run any more that name no range."""
MODELS = "torchvision.models"
"""Whose functions all take, or took, `pretrained`."""


@dataclass(frozen=True, slots=True)
class Change:
    """
    What happens to a name.

    Attributes
    ----------
    name
        In full.
    deprecated, removed
        The releases, where they are known.
    private
        It was never public; its twin (`instead`) is since then.
    instead
        What to use, in full; "" if there is nothing.
    how
        How a program is rewritten: "rename" (the name alone: same parameters, same meaning); "twin" (as that, but it is
        another object); "rename:N|NAMES" (calls of N positional arguments; those after them get these names, and only
        these may be named); "prepend:TEXT|NAMES" (a first argument; those given by position get these names);
        "keyword:TEXT" (arguments at the end); "decorator:TEXT" (as that, and called where it was not); "list" (the
        arguments in a list, but for `out`); "order:N,N|NAMES" (the positional arguments in this order, and what they
        are called then); "method" (the name of a method, called on the same tensor); "call" (what was a value is called
        now); "qr", "symeig", "solve" (each a rewriting of its own in `torchlint.fixes`, for the functions of that
        name); "transform:NAME" (of `torch.fft`); "" (somebody must look at it). Where a method becomes a function, its
        tensor is the first positional argument, and counts.
    quiet
        Torch shows no warning: only its documentation says so, or a warning that Python hides.
    source
        Where that is said.
    stub
        What is removed is still there by its name, and raises when it is called, and only then.
    derived
        It is a class derived from `instead`.
    earlier
        It was deprecated in that release already, which is the first whose sources are read: or before.
    differs
        In what `instead` is another thing, as the end of a sentence; "" if that is not known.
    least
        How many arguments it wants: a call with fewer raises TypeError.
    patch
        The patch release that deprecated it; "" if that is not known, or none.
    """

    name: str
    deprecated: Release | None
    removed: Release | None
    private: Release | None
    instead: str
    how: str
    quiet: bool
    source: str
    stub: bool = False
    derived: bool = False
    earlier: bool = False
    differs: str = ""
    least: int = 0
    patch: str = ""

    @property
    def is_young(self) -> bool:
        """Whether what takes its place is there in the last few releases alone."""
        return bool(self.instead) and (since(self.instead) or (0, 0)) >= sorted(PATCHES)[-_YOUNG]

    @property
    def warns_where_read(self) -> bool:
        """Whether torch warns where the name alone is read: of values; of functions and classes it does as called."""
        return self.how == "call"

    def is_replaced_by(self, names: Iterable[str]) -> bool:
        """Whether what takes its place is among names in full, by any path: `torch.amp.autocast_mode.autocast`."""
        module, _, last = self.instead.rpartition(".")
        return any(each.startswith(f"{module}.") and each.endswith(f".{last}") for each in names)

    @property
    def dated(self) -> str:
        """The release that deprecates it, of torch, or of torchvision, whose 0.15 came with torch 2.0."""
        major, minor = self.deprecated or (0, 0)
        if self.name.startswith("torchvision."):
            return f"torchvision 0.{minor + (15 if major > 1 else 1)}"
        return f"torch {self.patch or f'{major}.{minor}'}"

    @property
    def came(self) -> str:
        """Since when there is what takes its place, to be read by who names no range; "" if that is long ago."""
        release = since(self.instead) if self.instead else None
        return f", there since torch {spelled(release)}" if release is not None and release >= _LATELY else ""

    @property
    def cause(self) -> tuple[str, Release | None, Release | None]:
        """What names have in common that go the same way: the module that they are of, and when."""
        module = self.name.rpartition(".")[0]
        return _TORCH.get(module, module), self.deprecated, self.removed

    @property
    def whole(self) -> str:
        """The module that it is of, or is, if that is gone as a whole and the table has names of it; else ""."""
        for module in (self.name, self.name.rpartition(".")[0]):
            change = changes().get(module)
            if change is not None and change.removed and any(each.startswith(f"{module}.") for each in changes()):
                return module
        return ""

    @property
    def with_module(self) -> str:
        """The module that is gone with it as a whole, or later, as a part of a sentence; "" if only it is gone."""
        module = self.whole
        gone = changes()[module].removed if module and module != self.name else None
        if gone is None:
            return ""
        return f" with all of `{module}`" if gone == self.removed else f", and all of `{module}` since {spelled(gone)}"

    @property
    def apart(self) -> str:
        """How what takes its place of what is gone differs from it, as the end of a sentence."""
        if self.is_drop_in or not self.instead.startswith("torch."):
            return ""
        kind, _, function = self.how.partition(":")
        told = f", {self.differs or _DIFFERS.get(kind, 'perhaps with other arguments')}"
        if function == "irfft" and ".ifft" in self.instead:
            return f"{told}, and its real part"
        sizes = "n" if self.instead.endswith(".irfft") else "s"
        return f"{told}, `{sizes}` for `signal_sizes`" if function == "irfft" else told

    @property
    def written(self) -> str:
        """What takes its place, as a program writes it."""
        return self.instead.removeprefix("builtins.")

    def given(self, positional: int = 0) -> str:
        """
        What has to be given to the one that takes its place, and was not, or not in this form; "" if nothing has.

        Parameters
        ----------
        positional
            How many arguments a call gives by position.
        """
        kind, _, given = self.how.partition(":")
        first, _, names = given.partition("|")
        named = ", ".join(f"{each}=..." for each in names.split(",")[:positional] if each)
        return {
            "prepend": f"({first}, {named or '...'})",
            "decorator": f"({given})",
            "keyword": f"(..., {given})",
            "order": f"({names})",
            "list": "([...])",
            "call": "()",
        }.get(kind, "")

    @property
    def as_value(self) -> str:
        """What takes its place where it is not called, but kept or handed on to who calls it with the old arguments."""
        kind, _, given = self.how.partition(":")
        first, _, _ = given.partition("|")
        if kind in ("prepend", "decorator", "keyword"):
            return f"`functools.partial({self.instead}, {first})`"
        if kind == "call":
            return f"`{self.instead}()`"
        return f"`{self.instead}`" + ("" if self.is_drop_in or not kind else ", with other arguments")

    @property
    def is_drop_in(self) -> bool:
        """Whether what takes its place may be called as it is, and means the same."""
        return self.how in ("rename", "twin", "call", "method") or self.how.startswith("rename:")


_DIFFERS = {
    "transform": "with complex numbers for pairs of real ones, and `dim` for `signal_ndim`",
    "solve": "with the matrix first, and gives the solution alone",
    "symeig": "with `UPLO` for `upper`, and gives eigenvectors, too",
}
"""How what takes the place of a function differs from it, by the way in which it is rewritten."""
_TORCH = {"torch.Tensor": "torch", "torch.functional": "torch"}
"""Modules and classes that hold the same functions as another one."""


@dataclass(frozen=True, slots=True)
class Watched:
    """
    What of the table concerns a range of releases.

    Attributes
    ----------
    names
        What happens to names.
    too_new
        Names that the oldest release does not have, and when they came.
    arguments, new_arguments, unsaid
        By function.
    """

    names: dict[str, Change]
    too_new: dict[str, Release]
    arguments: dict[str, tuple[Argument, ...]]
    new_arguments: dict[str, dict[str, Release]]
    unsaid: dict[str, Unsaid]

    def __contains__(self, name: object) -> bool:
        return (
            name in self.names
            or name in self.too_new
            or name in self.arguments
            or name in self.new_arguments
            or name in self.unsaid
            or name in CALLED
            or (isinstance(name, str) and MODELS in self.arguments and name.startswith(MODELS + "."))
        )


class Spelled:
    """
    Of what concerns a range of releases, the names of which one file may have something to be told: what happens to
    arguments concerns no file that neither writes the name of one nor gives any without a name.

    Parameters
    ----------
    watched
        What concerns the range.
    text
        The file.
    """

    def __init__(self, watched: Watched, text: str) -> None:
        self._watched = watched
        self._text = text
        self._known: dict[str, bool] = {}

    def __contains__(self, name: object) -> bool:
        assert isinstance(name, str)
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = name in self._watched and self._concerns(name)
        return known

    def _concerns(self, name: str) -> bool:
        watched, text = self._watched, self._text
        if name in watched.names or name in watched.too_new or name in watched.unsaid or name in CALLED:
            return True
        if name.startswith(MODELS + "."):
            return True
        given = [(each.name, each.at >= 0) for each in watched.arguments.get(name, ())]
        given += [(each, _new_position(name, each) is not None) for each in watched.new_arguments.get(name, ())]
        if any(argument in text for argument, _ in given):
            return True
        return any(placed for _, placed in given) and self._may_give_by_place(name.rpartition(".")[2])

    def _may_give_by_place(self, word: str) -> bool:
        """
        Whether the file may call what it writes so with an argument that has no name: not where it has nothing but
        plain imports of it, and calls that give nothing or whose first argument has a name (none comes after it).
        """
        text = self._text
        begin = text.find(word)
        while begin >= 0:
            end = begin + len(word)
            is_whole = not (text[begin - 1 : begin].isidentifier() or text[begin - 1 : begin].isdigit())
            if is_whole and not _ALL_NAMED.match(text, end):
                line = text[text.rfind("\n", 0, begin) + 1 : begin]
                if not _PLAIN_IMPORT.fullmatch(line) or _RENAMED.match(text, end):
                    return True
            begin = text.find(word, end)
        return False


_ALL_NAMED = re.compile(r"\(\s*(?:\)|\w+\s*=(?!=))")
"""What follows a name that is called without an argument that has none."""
_PLAIN_IMPORT = re.compile(r"[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]+[\w, \t]*")
_RENAMED = re.compile(r"[ \t]+as\b|[ \t]*\\")
"""What follows an imported name that is known under another one, or may be."""


CALLED = frozenset(
    f"torch.{name}"
    for name in (
        "load",
        "serialization.load",
        "hub.load",
        "classes.load_library",
        "package",
        "package.PackageImporter",
        "distributed.all_gather_object",
        "distributed.broadcast_object_list",
        "distributed.gather_object",
        "distributed.recv_object_list",
        "distributed.scatter_object_list",
        "distributed.send_object_list",
    )
)
"""What may be unsafe, in whatever release."""


@cache
def _table() -> dict[str, Any]:
    with TABLE.open(encoding="utf-8") as file:
        return dict(json.load(file))


def _release(row: dict[str, Any], key: str) -> Release | None:
    return release(row[key]) if row.get(key) else None


@cache
def changes() -> dict[str, Change]:
    """Every name that something happens to."""
    found = {name: _change(name, row) for name, row in _table()["names"].items()}
    for name in list(found):
        for other in _also(name):
            found.setdefault(other, _change(other, _table()["names"][name]))
    return found


def _change(name: str, row: dict[str, Any]) -> Change:
    return Change(
        name,
        _release(row, "deprecated"),
        _release(row, "removed"),
        _release(row, "private"),
        row.get("instead", ""),
        row.get("how", ""),
        bool(row.get("quiet", False)),
        row.get("source", ""),
        bool(row.get("stub", False)),
        bool(row.get("derived", False)),
        bool(row.get("earlier", False)),
        row.get("differs", ""),
        int(row.get("least", 0)),
        row.get("dated", ""),
    )


def _also(name: str) -> list[str]:
    """Other ways to the same object."""
    return _others().get(name, [])


@cache
def _others() -> dict[str, list[str]]:
    """By the name that the table has of an object, the other ways to it: asked of each of many hundred names."""
    found: dict[str, list[str]] = {}
    for other, same in _table()["same"].items():
        found.setdefault(same, []).append(other)
    return found


def known_as(name: str) -> str:
    """The way to an object by which the table has it."""
    return cast(str, _table()["same"].get(name, name))


def since(name: str) -> Release | None:
    """The release that a name came with, if that is known."""
    found = _table()["since"].get(name)
    return release(found) if found else None


def came_with(name: str) -> str:
    """The module of a name that came with the same release; "" if it was there before."""
    module = name.rpartition(".")[0]
    return module if since(name) is not None and since(module) == since(name) else ""


def importable(module: str) -> Release | None:
    """The release from which a module can be imported whose name was a function's until a later one."""
    found = _table()["importable"].get(module)
    return release(found) if found else None


def arguments() -> dict[str, tuple[Argument, ...]]:
    """By function, the arguments that something happens to."""
    found: dict[str, tuple[Argument, ...]] = {}
    for function, rows in _table()["arguments"].items():
        of = tuple(
            Argument(
                name,
                int(row.get("at", -1)),
                _release(row, "deprecated"),
                _release(row, "removed"),
                row.get("instead", ""),
                row.get("how", ""),
                row.get("source", ""),
                bool(row.get("ignored", False)),
                _release(row, "instead_since"),
                row.get("instead_of", ""),
            )
            for name, row in rows.items()
        )
        for each in (function, *_also(function)):
            found.setdefault(each, of)
    for name, change in changes().items():
        if change.how == "twin" and change.instead in found:  # it takes what its twin takes
            found.setdefault(name, found[change.instead])
    return found


def unsaid() -> dict[str, Unsaid]:
    """By function, the argument that is better said."""
    found: dict[str, Unsaid] = {}
    for function, row in _table()["unsaid"].items():
        of = Unsaid(
            row.get("argument", ""),
            int(row.get("at", -1)),
            _release(row, "since"),
            _release(row, "changes"),
            row.get("say", ""),
            row.get("now", ""),
            _release(row, "keyword_since"),
            row.get("why", ""),
            row.get("implied", ""),
            row.get("was", ""),
            row.get("needs", ""),
            row.get("cure", ""),
            tuple(row.get("takes", ())),
        )
        for each in (function, *_also(function)):
            found.setdefault(each, of)
    return found


def has_argument(function: str, name: str) -> bool:
    """Whether the table says of an argument of a function that it came, went, or is better said."""
    rows = [each.name for each in arguments().get(function, ())]
    said = unsaid().get(function)
    rows += [] if said is None else [said.name]
    return name in rows or name in _table()["new_arguments"].get(function, ())


def position_of_new(function: str, argument: str, positional: int) -> int:
    """
    Where a new argument of a function stands in a call that gives so many by position; -1 if it is not among them, or
    is told by its name alone.
    """
    found = _new_position(function, argument)
    return found[0] if found is not None and positional >= found[1] else -1


def _new_position(function: str, argument: str) -> tuple[int, int] | None:
    """Where a new argument stands, and how many have to be given by position for it to be one of them."""
    found = _table()["new_positions"].get(function, {}).get(argument)
    return None if found is None else (int(found[0]), int(found[1]))


@cache
def watched(target: Target) -> Watched:
    """What concerns a range of releases."""
    names = {name: change for name, change in changes().items() if _concerns(change, target)}
    came = {name: release(value) for name, value in _table()["since"].items()}
    too_new = {name: when for name, when in came.items() if target.lacks(name, when)}
    old: dict[str, tuple[Argument, ...]] = {}
    for function, of in arguments().items():
        reached = tuple(each for each in of if target.reaches(each.removed) or target.reaches(each.deprecated))
        if reached:
            old[function] = reached
    new: dict[str, dict[str, Release]] = {}
    for function, rows in _table()["new_arguments"].items():
        missing = {name: release(value) for name, value in rows.items() if target.begins_before(release(value))}
        if missing:
            new[function] = missing
    better_said = {
        function: each
        for function, each in unsaid().items()
        if target.spans(each.changes) or target.reaches(each.since)
    }
    return Watched(names, too_new, old, new, better_said)


@cache
def watched_anywhere() -> Watched:
    """What concerns any range of releases: told before the one that is meant is known."""
    new = {key: dict.fromkeys(rows, NEWEST) for key, rows in _table()["new_arguments"].items()}
    return Watched(changes(), dict.fromkeys(_table()["since"], NEWEST), arguments(), new, unsaid())


@cache
def beginnings() -> frozenset[str]:
    """What the names begin with that concern any range of releases, part by part."""
    known = watched_anywhere()
    every = (known.names, known.too_new, known.arguments, known.new_arguments, known.unsaid, CALLED)
    names = {name for each in every for name in each}
    found: set[str] = set()
    while names:
        names = {name.rpartition(".")[0] for name in names} - found - {""}
        found |= names
    return frozenset(found | ({MODELS} & known.arguments.keys()))


def _concerns(change: Change, target: Target) -> bool:
    if target.reaches(change.removed):
        return True
    if change.private is not None:
        return not target.begins_before(change.private)
    if not target.reaches(change.deprecated):
        return False
    # nobody can do without it yet
    return not (change.instead and target.begins_before(since(change.instead)))
