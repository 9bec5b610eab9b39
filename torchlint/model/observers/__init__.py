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
    return [each for each in observers() if not each.words or any(word in text for word in each.words)]


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
