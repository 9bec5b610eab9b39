"""
What `einops` does with tensors, for where it is not installed: `rearrange`, `reduce`, `repeat`, layers
of them, `pack`, `unpack`, `einsum`, `parse_shape`.

Runs inside the child. Most Modules that are written with it move axes by it and by nothing else: a stand-in that gives
back what it is given drives none of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

PACKAGE = "einops"
_ALONE = "*"
"""Dots that are in no brackets: axes of their own."""
_TOKEN = re.compile(r"\(([^)]*)\)|(\.\.\.|\w+)")


def _groups(side: str) -> list[list[str]]:
    """The axes of one side of a pattern, those in brackets together; a one is no axis."""
    found = [
        match[1].split() if match[2] is None else [_ALONE if match[2] == "..." else match[2]]
        for match in _TOKEN.finditer(side)
    ]
    return [[name for name in group if name != "1"] for group in found]


def _spread(groups: list[list[str]], rest: list[str]) -> list[list[str]]:
    """With the axes that the dots stand for."""
    spread: list[list[str]] = []
    for group in groups:
        if group == [_ALONE]:
            spread += [[name] for name in rest]
        else:
            spread.append([each for name in group for each in (rest if name == "..." else [name])])
    return spread


def _sizes(shape: Sequence[int], groups: list[list[str]], known: dict[str, int]) -> dict[str, int]:
    sizes = dict(known)
    for length, group in zip(shape, groups, strict=True):
        open_ones = [name for name in group if name not in sizes]
        product = math.prod(sizes[name] for name in group if name in sizes)
        if len(open_ones) > 1 or (product and length % product) or (not open_ones and product != length):
            raise RuntimeError(f"Shape mismatch, can't divide axis of length {length} in chunks of {product}")
        sizes.update(dict.fromkeys(open_ones, length // max(1, product)))
    return sizes


def _moved(tensor: Any, pattern: str, known: dict[str, int], how: str = "") -> Any:
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    left, right = (_groups(side) for side in pattern.split("->"))
    extra = tensor.dim() - len(left) + 1
    dots = any("..." in group or _ALONE in group for group in left)
    if extra < 0 or (not dots and extra != 1):
        raise RuntimeError(f"Wrong shape: expected {len(left)} dims. Received {tensor.dim()}-dim tensor.")
    rest = [f"_{index}" for index in range(extra)] if dots else []
    before, after = _spread(left, rest), _spread(right, rest)
    named = {name: int(size) for name, size in known.items()}
    sizes = _sizes(tensor.shape, before, {name: named[name] for group in before for name in group if name in named})
    axes = [name for group in before for name in group]
    wanted = [name for group in after for name in group]
    atomic = tensor.reshape([sizes[name] for name in axes])
    gone = [axes.index(name) for name in axes if name not in wanted]
    if gone:
        reduced: Callable[..., Any] = getattr(torch, {"max": "amax", "min": "amin"}.get(how, how))
        atomic = reduced(atomic, dim=gone)
        axes = [name for name in axes if name in wanted]
    for name in (name for name in wanted if name not in axes):
        size = int(name) if name.isdigit() else named[name]
        atomic, axes, sizes[name] = atomic.unsqueeze(-1).expand(*atomic.shape, size), [*axes, name], size
    atomic = atomic.permute([axes.index(name) for name in wanted])
    return atomic.reshape([math.prod(sizes[name] for name in group) for group in after])


def rearrange(tensor: Any, pattern: str, **sizes: int) -> Any:
    """Axes in another order, put together and taken apart."""
    return _moved(tensor, pattern, sizes)


def reduce(tensor: Any, pattern: str, reduction: str, **sizes: int) -> Any:
    """Axes that the right side lacks are reduced."""
    return _moved(tensor, pattern, sizes, reduction)


def repeat(tensor: Any, pattern: str, **sizes: int) -> Any:
    """Along axes that only the right side has."""
    return _moved(tensor, pattern, sizes)


def _around(pattern: str) -> tuple[int, int]:
    """How many axes a pattern of `pack` has before its star, and behind it."""
    before, _, behind = pattern.partition("*")
    return len(before.split()), len(behind.split())


def pack(tensors: Sequence[Any], pattern: str) -> tuple[Any, list[torch.Size]]:
    """Several tensors along one axis, into which those go that the star stands for; and the sizes of these."""
    before, behind = _around(pattern)
    flat, sizes = [], []
    for tensor in tensors:
        end = tensor.dim() - behind
        if end < before:
            raise RuntimeError(f"Wrong shape: expected {before + behind} dims. Received {tensor.dim()}-dim tensor.")
        sizes.append(tensor.shape[before:end])
        flat.append(tensor.reshape(*tensor.shape[:before], math.prod(sizes[-1]), *tensor.shape[end:]))
    return torch.cat(flat, dim=before), sizes


def unpack(tensor: Any, sizes: Sequence[Sequence[int]], pattern: str) -> list[Any]:
    """What `pack` has put together."""
    before, _ = _around(pattern)
    lengths = [math.prod(each) for each in sizes]
    if -1 in lengths:
        known = tensor.shape[before] - sum(each for each in lengths if each > 0)
        lengths = [known if each < 0 else each for each in lengths]
    found, start = [], 0
    for length, each in zip(lengths, sizes, strict=True):  # slices, as einops takes them: no view of several
        part = tensor.narrow(before, start, length)
        found.append(part.reshape(*tensor.shape[:before], *each, *tensor.shape[before + 1 :]))
        start += length
    return found


def einsum(*given: Any) -> Any:
    """As that of torch, with words for axes."""
    *tensors, pattern = given
    names = dict.fromkeys(re.findall(r"\w+", pattern))
    letters = dict(zip(names, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False))
    return torch.einsum(re.sub(r"\w+", lambda found: letters[found[0]], pattern).replace(" ", ""), *tensors)


def parse_shape(tensor: Any, pattern: str) -> dict[str, int]:
    """The sizes of the axes that have a name."""
    return {name: size for name, size in zip(pattern.split(), tensor.shape, strict=True) if name != "_"}


class _Layer(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, pattern: str, reduction: str = "", **sizes: int) -> None:
        super().__init__()
        self.asked = (pattern, sizes, reduction)

    def forward(self, x: Any) -> Any:
        """As the function of the same name."""
        return _moved(x, *self.asked)


KNOWN: dict[str, Any] = {
    "rearrange": rearrange,
    "reduce": reduce,
    "repeat": repeat,
    "pack": pack,
    "unpack": unpack,
    "einsum": einsum,
    "parse_shape": parse_shape,
    "Rearrange": _Layer,
    "Reduce": _Layer,
}
"""By name, in whichever module of the package."""
