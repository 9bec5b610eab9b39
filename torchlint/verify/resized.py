"""
What a layer that stands for another one makes of sizes: one that is built with `in_channels` and `out_channels` takes a
tensor of the one and gives one of the other.

Runs inside the child. Records nothing but a copy: what a stand-in gives shares nothing with what it was given, and
saves nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

_BEFORE = re.compile(
    r"in|input|inp|c_in|in_c|ch_in|(in|inp|input|source|src)_?(channels?|features?|dims?|size|planes|ch|nc)|dim_in"
)
_AFTER = re.compile(
    r"out|output|c_out|out_c|ch_out|(out|output|target|tgt)_?(channels?|features?|dims?|size|planes|ch|nc)|dim_out"
)
Sizes = tuple[int, int, int]
"""Taken, given, and of how many places behind the channels one is kept."""
IMAGES = 4
"""Tensors of so many dimensions have their channels behind the batch, others last."""


def sizes(arguments: Sequence[Any], keywords: Mapping[str, Any], *, by_place: bool = True) -> Sizes | None:
    """
    The sizes that a layer takes and gives, by what it is built with; None, where that does not say both.

    Parameters
    ----------
    by_place
        Whether the first two arguments are these, if they are numbers.
    """
    taken = next((value for name, value in keywords.items() if _BEFORE.fullmatch(name) and _whole(value)), None)
    given = next((value for name, value in keywords.items() if _AFTER.fullmatch(name) and _whole(value)), None)
    places = [value for value in arguments[:2] if _whole(value)] if by_place else []
    if given is not None and taken is None and places:
        taken = places[0]
    elif taken is None and given is None and len(places) == 2:
        taken, given = places
    if taken is None or given is None:
        return None
    stride: Any = keywords.get("stride")
    return int(taken), int(given), int(stride) if _whole(stride) else 1


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def resized(tensor: torch.Tensor, known: Sizes | None) -> torch.Tensor:
    """A copy that has the given size where it has the one that is taken; the same, where it has it nowhere."""
    if known is None or tensor.ndim == 0:
        return tensor
    taken, given, stride = known
    last = tensor.ndim - 1
    places = (1, last) if tensor.ndim >= IMAGES else (last, 1)
    place = next((each for each in places if each <= last and tensor.shape[each] == taken), None)
    if place is None:
        return tensor
    if given != taken:
        tensor = tensor.index_select(place, torch.arange(given) % taken)
    for behind in range(2, tensor.ndim) if stride > 1 and place == 1 else ():
        tensor = tensor.index_select(behind, torch.arange(0, tensor.shape[behind], stride))
    return tensor
