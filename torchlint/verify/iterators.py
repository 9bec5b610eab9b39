"""
Whether an iterator has come to its end, without taking anything from it.

Runs inside the child. Looks only at what Python shows of its own iterators: frames of generators, and what `filter`,
`map`, `zip`, `enumerate` and `itertools.chain` say of themselves when they are to be copied.
"""

from __future__ import annotations

import itertools
import warnings
from types import GeneratorType
from typing import Any

_OVER_OTHERS = (filter, map, zip, enumerate, itertools.chain)
DEPTH = 4
"""Iterators over iterators are followed no further."""


def used_up(value: object, depth: int = DEPTH) -> bool | None:
    """
    Whether an iterator gives nothing any more.

    Returns
    -------
    bool | None
        None for what is no iterator, and for one that does not show it.
    """
    if isinstance(value, GeneratorType):
        return value.gi_frame is None
    if isinstance(value, _OVER_OTHERS) and depth:
        state = _state(value)
        if isinstance(value, itertools.chain):  # at its end it has let go of what it goes over
            return True if len(state) == 2 else None
        inner = [used_up(each, depth - 1) for each in _inner(value, state)]
        return True if True in inner else None if None in inner or not inner else False
    hint = getattr(type(value), "__length_hint__", None)
    if hint is not None and type(value).__module__ == "builtins":
        return bool(hint(value) == 0)
    return None


def _state(value: Any) -> tuple[Any, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: iterators of itertools will not say it
            return tuple(value.__reduce__())
    except (TypeError, AttributeError):
        return ()


def _inner(value: object, state: tuple[Any, ...]) -> list[object]:
    given = list(state[1]) if len(state) > 1 else []
    if isinstance(value, (filter, map)):
        given = given[1:]
    elif isinstance(value, enumerate):
        given = given[:1]
    return given
