"""
Room for the frames of deep calls, taken at once.

Python keeps the frames of its functions in chunks of 16 KB, and asks the operating system for each, and gives it back,
by itself: a loop that calls where a chunk ends maps and unmaps memory at every turn. In a run over a hundred files that
happened nineteen thousand times, and took a twentieth of its time. A frame larger than a chunk gets a larger one, the
next power of two, and what it leaves of that is for the frames of all calls below. Memory that no frame reaches is only
reserved. Knows nothing of torchlint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")
_WORDS = 140_000
"""Of eight bytes: a little more than a megabyte, so that almost one is left, for some three thousand calls."""


def with_room(function: Callable[[], _Result]) -> _Result:
    """The result of a function, whose calls and theirs find room for their frames."""
    return function()


with_room.__code__ = with_room.__code__.replace(co_stacksize=_WORDS)
