"""
What happens to an argument of a function of torch from release to release: the rows of the table, as they are read.

Holds what is read; reads nothing, and judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.target import Release


@dataclass(frozen=True, slots=True)
class Argument:
    """
    What happens to an argument of a function.

    Attributes
    ----------
    name
        The argument.
    at
        Its position; -1 if it has none.
    deprecated, removed, instead, source
        As of a `Change`.
    how
        "rename" (the name alone); "reduction" (`size_average` and `reduce` of a loss become one argument); "drop:VALUE"
        (left out where it has that value); "weights" (`pretrained` of torchvision); "" (somebody must look at it).
    ignored
        It is taken, and does nothing.
    instead_since, instead_of
        The release from which on `instead` can be had, and what it came with.
    """

    name: str
    at: int
    deprecated: Release | None
    removed: Release | None
    instead: str
    how: str
    source: str
    ignored: bool = False
    instead_since: Release | None = None
    instead_of: str = ""

    @property
    def cure(self) -> str:
        """What to do, as an order; "" where nothing takes its place."""
        if self.how == "drop:False" and not self.instead:
            return "leave it out, as False means nothing"
        if self.instead.endswith("()"):  # a call, and no argument
            return f"leave it out; `{self.instead}` is there for that"
        return f"use `{self.instead}`" if self.instead else ""


@dataclass(frozen=True, slots=True)
class Unsaid:
    """
    An argument that is better said.

    Attributes
    ----------
    name, at
        As of an `Argument`.
    since
        The release from which on torch warns, or refuses, where it is not said.
    changes
        The release in which its default changes.
    say
        What keeps the old meaning; "" if nothing does.
    now
        What it means from `changes` on, as it follows on what it meant before.
    keyword
        The release that has the argument.
    why
        What torch says to it, as the second half of a sentence.
    implied
        "complex": it is implied where the first argument is complex; else the keyword that only a call with the new
        meaning takes, which an older torch refuses then; "" if nothing implies it.
    was
        What it means before `changes`.
    needs
        What follows from the change, of the call; "" if there is nothing to say.
    cure
        What else says it, where there is no such argument.
    takes
        The keywords that the call takes without it, where it refuses all others; empty where it refuses none.
    """

    name: str
    at: int
    since: Release | None
    changes: Release | None
    say: str
    now: str
    keyword: Release | None
    why: str
    implied: str = ""
    was: str = ""
    needs: str = ""
    cure: str = ""
    takes: tuple[str, ...] = ()
