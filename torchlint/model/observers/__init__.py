"""
The observers of the model, one module per family of facts; see `torchlint.model.state.hooks`.

Each module here holds classes derived from `Observer`; all of them watch every run. An observer imports the domain,
events, truth and `observer`, and nothing above these.
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
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Observer) and value.__module__ == module.__name__
        ]
    return tuple(found)
