"""
Which leaves a backward reaches, what the user calls them, and which saved tensor stopped it.

Runs inside the child. Walks graphs by `grad_fn` and `next_functions`, which stay readable after a backward has freed
the saved tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import torch

NODES = 50_000
"""A graph is walked no further than this."""


class Leaves:
    """
    The leaves seen so far, by name.

    Parameters
    ----------
    filename
        The name the program's code objects carry; only their variables are looked through for names.
    """

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.names: dict[int, str] = {}
        self.leaves: dict[int, torch.Tensor] = {}

    def named(self) -> Iterator[tuple[str, torch.Tensor]]:
        """All of them, in the order they were met."""
        return ((self.names[key], leaf) for key, leaf in self.leaves.items())

    def reached_from(self, roots: Iterable[torch.Tensor], frame: FrameType | None) -> list[tuple[str, torch.Tensor]]:
        """The leaves that a backward from these roots accumulates into."""
        found = list(_leaves(roots))
        if any(id(leaf) not in self.leaves for leaf in found):
            known = self._variables(frame)
            for leaf in found:
                if id(leaf) not in self.leaves:
                    self.leaves[id(leaf)] = leaf
                    self.names[id(leaf)] = known.get(id(leaf), f"leaf {len(self.leaves)}")
        return [(self.names[id(leaf)], leaf) for leaf in found]

    def _variables(self, frame: FrameType | None) -> dict[int, str]:
        known: dict[int, str] = {}
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                for scope in (frame.f_locals, frame.f_globals):
                    for name, value in list(scope.items()):
                        for words, tensor in _tensors(name, value):
                            known.setdefault(id(tensor), words)
            frame = frame.f_back
        return known


def overwritten(roots: Iterable[torch.Tensor], message: str) -> Iterator[torch.Tensor]:
    """
    The saved tensors over which a backward has just failed with this message ("modified by an inplace operation").

    A node keeps what it saved when it fails, and reading its `_saved_…` attribute raises the same words;
    `_raw_saved_….data` gives the tensor all the same (torch/csrc/autograd/init.cpp, `SavedTensor`).
    """
    words = message.partition(" Hint: ")[0]
    if "modified by an inplace operation" not in words:
        return
    for node in _nodes(root.grad_fn for root in roots):
        for name in dir(node):
            if not name.startswith("_raw_saved_"):
                continue
            try:
                getattr(node, name.replace("_raw", "", 1))
            except RuntimeError as error:
                if str(error).partition(" Hint: ")[0] == words:
                    data = getattr(getattr(node, name), "data", None)
                    if isinstance(data, torch.Tensor):
                        yield data


def _leaves(roots: Iterable[torch.Tensor]) -> Iterator[torch.Tensor]:
    given: set[int] = set()
    inner = []
    for root in roots:
        if root.grad_fn is not None:
            inner.append(root.grad_fn)
        elif root.requires_grad and id(root) not in given:
            given.add(id(root))
            yield root
    for node in _nodes(inner):
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, torch.Tensor) and id(leaf) not in given:
            given.add(id(leaf))
            yield leaf


def _nodes(start: Iterable[Any]) -> Iterator[Any]:
    waiting = [node for node in start if node is not None]
    done: set[Any] = set()
    while waiting and len(done) < NODES:
        node = waiting.pop()
        if node not in done:
            done.add(node)
            yield node
            waiting.extend(following for following, _ in reversed(node.next_functions) if following is not None)


def _tensors(name: str, value: object) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, torch.nn.Module):
        for inner, parameter in value.named_parameters():
            yield f"{name}.{inner}", parameter
        for inner, attribute in vars(value).items():
            if isinstance(attribute, torch.Tensor):
                yield f"{name}.{inner}", attribute
    elif isinstance(value, Mapping):
        for key, item in list(value.items())[:64]:
            if isinstance(item, torch.Tensor):
                yield f"{name}[{key!r}]", item
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        for index, item in enumerate(value[:64]):
            if isinstance(item, torch.Tensor):
                yield f"{name}[{index}]", item
