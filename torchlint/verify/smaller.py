"""
A Module that is large by the defaults of its constructor, with smaller ones in the same proportions.

Runs inside the child. What is claimed of a Module hardly ever hangs on its size, and what has a hundred million
parameters takes the time in which inputs would be found.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from torchlint.verify.mutations import parameters_of
from torchlint.verify.usage import says

MANY = 4_000_000
"""A Module with more parameters is large."""
_WIDE = 64
"""Sizes from here on are divided, by each of these, the larger first."""
_FACTORS = (16, 4, 1)
_FEW = 2
"""So many layers are enough."""
_DEPTHS = ("depth", "depths", "layers", "blocks", "num_layers", "n_layers", "repeats")
_KEPT = ("image", "img", "patch", "window", "kernel", "stride", "resolution", "input_size", "crop", "bins", "seed")
"""Words of names of sizes that others have to fit."""


def is_large(built: Any) -> bool:
    """Whether it has so many parameters."""
    if not isinstance(built, torch.nn.Module):
        return False
    return bool(sum(each.numel() for each in built.parameters() if not _unmade(each)) > MANY)


def _unmade(parameter: Any) -> bool:
    return isinstance(parameter, torch.nn.parameter.UninitializedTensorMixin)


def arguments(target: type[Any], known: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The same arguments with smaller sizes and fewer layers, defaults included."""
    defaults = {p.name: p.default for p in parameters_of(target) if p.default is not p.empty}
    given = {**defaults, **known}
    for factor in _FACTORS:
        changed = {name: _smaller(name, value, factor) for name, value in given.items()}
        found = {name: value for name, value in changed.items() if value is not None and value != given[name]}
        if found:
            yield {**known, **found}


def _smaller(name: str, value: Any, factor: int) -> Any:
    """None where it stays as it is."""
    if isinstance(value, (list, tuple)) and value and all(type(each) is int for each in value):
        return type(value)(map(functools.partial(_size, name, factor), value)) if type(value) in (list, tuple) else None
    return _size(name, factor, value) if type(value) is int else None


def _size(name: str, factor: int, value: int) -> int:
    if any(says(name, word) for word in _DEPTHS):
        return min(value, _FEW)
    if value < _WIDE or any(says(name, word) for word in _KEPT):
        return value
    return max(value // factor, 1)
