"""
Values for what an argument may be, too: lists of anything, tables, callables, distributions.

Runs inside the child. As `values`, which it asks for the parts: each is made anew for each call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from torchlint.verify import values
from torchlint.verify.anything import AnyTensor, Anything
from torchlint.verify.usage import Use

_Parts = Callable[[str, "tuple[int, ...]", int], Any]


def _pair(name: str, shape: tuple[int, ...], index: int) -> Any:
    return (values.tensor("x", shape, False), values.tensor("label", (), False, "all integers"))


_PARTS: Mapping[str, _Parts] = {
    "numbers": lambda name, shape, index: index + 1,
    "fractions": lambda name, shape, index: 0.5 / (index + 1),
    "strings": lambda name, shape, index: ("weight", "bias", "a", "b")[index % 4],
    "dict of": lambda name, shape, index: {"name": "a", "value": 1.0},
    "pairs": _pair,
    "lists": lambda name, shape, index: [1, 2, 3],
    "arrays": lambda name, shape, index: values.tensor(name, shape, False, "tensor").numpy(),
    "anything": lambda name, shape, index: Anything(SIZE),
    "number pairs": lambda name, shape, index: (index, index + 1),
    "weights": lambda name, shape, index: values.tensor(name, shape, False, "tensor"),
}
"""What a list or a table holds."""
SIZE = 8
KEYS = ("a", "b")


def make(name: str, use: Use, shape: tuple[int, ...], size: int, requires_grad: bool, *, computes: bool) -> Any:
    """As `values.make`, of more kinds."""
    match use.kind:
        case "several" if use.held == "nothing":
            return []
        case "several" if use.held == "dicts":
            return [values.Batch(shape, False, own=use.value or ()) for _ in range(use.rank or 2)]
        case "several":
            return [_PARTS[use.held](name, shape, index) for index in range(use.rank or 2)]
        case "gives":
            return _gives
        case "row":
            return (4,) * use.rank
        case "table" if use.value:
            asked = {key: values.scalar(key, size, computes=False) for key in use.value}
            return {**make(name, replace(use, value=None), shape, size, requires_grad, computes=computes), **asked}
        case "table" if use.held == "nothing":
            return {}
        case "table" if use.held == "by number":
            return {0: 2, 1: 2}
        case "table":
            return {key: _PARTS[use.held](name, shape, index) for index, key in enumerate(KEYS)}
        case "identity":
            return _identity
        case "constant":
            return _constant
        case "distribution":
            return torch.distributions.Normal(torch.zeros(shape), torch.ones(shape))
        case "generator":
            return torch.Generator().manual_seed(1)
        case "slice":
            return slice(0, 2)
        case "range":
            return range(2)
        case "array" if use.held:
            return values.tensor(name, shape, False, use.held).numpy()
    return values.make(name, use, shape, size, requires_grad, computes=computes)


def _identity(*args: Any, **kwargs: Any) -> Any:
    """What it is given; a tensor as one of its own, for a caller may write it."""
    first = next(_given(args, kwargs), None)
    return first.clone() if isinstance(first, torch.Tensor) else first


def _constant(*args: Any, **kwargs: Any) -> Any:
    return 1.0


def _gives(*args: Any, **kwargs: Any) -> Any:
    return AnyTensor(SIZE)


def _given(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Any]:
    yield from args
    yield from kwargs.values()
