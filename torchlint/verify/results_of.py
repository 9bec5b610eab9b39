"""
Of which function a tensor holds the results, through operations that only move numbers.

Runs inside the child. Only looks, and keeps no tensor alive.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import torch
from torch.utils.weak import WeakIdKeyDictionary

from torchlint.verify.leaf_writes import tensors_in

JOINS = frozenset({"stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack"})
MOVES = frozenset(
    {
        *("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "squeeze_", "unsqueeze_", "ravel"),
        *("transpose", "permute", "t", "movedim", "swapaxes", "swapdims", "contiguous", "clone", "detach", "view_as"),
        *("__getitem__", "__iter__", "unbind", "select", "narrow", "chunk", "split", "index_select", "masked_select"),
        *("gather", "take", "expand", "repeat", "reshape_as", "expand_as", "to", "float", "double", "cpu"),
    }
)
"""Functions whose results hold the numbers that they are given, all or some of them, and no others."""


class Results:
    """
    What is known of the tensors of a run.

    Parameters
    ----------
    names
        The functions whose results are followed.
    """

    def __init__(self, names: Set[str]) -> None:
        self.names = names
        self.known = WeakIdKeyDictionary()

    def of(self, tensor: torch.Tensor) -> frozenset[str]:
        """The functions whose results a tensor holds, and nothing else."""
        found: frozenset[str] = self.known.get(tensor, frozenset())
        return found

    def follow(self, name: str, given: Sequence[torch.Tensor], result: object) -> None:
        """A function has returned: its result is its own, or, of one that only moves, what it was given."""
        if not self.names:
            return
        made = frozenset([name.rstrip("_")]) if name in self.names else frozenset[str]()
        moved = [self.of(tensor) for tensor in given]
        if name in JOINS and moved:
            made |= frozenset.intersection(*moved)
        elif name in MOVES and moved:
            made |= moved[0]
        if made:
            for tensor in tensors_in(result):
                self.known[tensor] = made

    def rewritten(self, name: str, tensor: torch.Tensor) -> None:
        """A function has written a tensor: what it holds now is of that function."""
        if name not in MOVES and name not in self.names:
            self.known.pop(tensor, None)
