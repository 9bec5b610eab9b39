"""
The observers of the model, a folder per family of rules, one module per family of facts: see `model.state.hooks`.

Each module here holds classes derived from `Observer`; all of them watch every run. An observer imports events,
the state and what is below it, and nothing above.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from torchlint.model.state.computations import ComputationLog
from torchlint.model.state.hooks import Observer


def watching(text: str) -> list[type[Observer]]:
    """The observers that a file of this text may concern."""
    written = set(text.encode("utf-8", "surrogatepass").translate(_APART).split())
    if len(text) >= _LONG:
        written = {each for each in written if len(each) < _LONG and not each.isdigit()}
    names = b" ".join(written)
    return [each for each, words in _wanted() if not words or _has_one(words, names, text)]


_APART = bytes(each if chr(each).isalnum() or each == ord("_") or each > 127 else ord(" ") for each in range(256))
"""Leaves of a text what names are made of: each once, they are a fifth of it, and a hundred words are looked for."""


_LONG = 10_000
"""Bytes that no name has: what is longer is data in a literal, as a number is, and all words are looked for in it."""


def _has_one(words: tuple[tuple[str, bytes, bool], ...], names: bytes, text: str) -> bool:
    for word, name, is_all in words:  # noqa: SIM110  (a generator for each observer of each file costs more than asking)
        if name in names and (is_all or word in text):
            return True
    return False


@cache
def _wanted() -> tuple[tuple[type[Observer], tuple[tuple[str, bytes, bool], ...]], ...]:
    """The observers, each with its words, the longest name or part of one in each, and whether that is all of it."""
    found = []
    for each in observers():
        names = [max(word.encode().translate(_APART).split(), key=len, default=b"") for word in each.words]
        words = zip(each.words, names, strict=True)
        found.append((each, tuple((word, name, name == word.encode()) for word, name in words)))
    return tuple(found)


@cache
def observers() -> tuple[type[Observer], ...]:
    """The log that others listen to, then the classes of this package, by module and in the order of definition."""
    found: list[type[Observer]] = [ComputationLog]
    modules = [info.name for info in pkgutil.walk_packages(__path__, f"{__name__}.") if not info.ispkg]
    for name in sorted(modules, key=lambda name: name.rpartition(".")[2]):
        module = importlib.import_module(name)
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Observer) and value.__module__ == module.__name__
        ]
    return tuple(found)
