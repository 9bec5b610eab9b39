"""
Which nodes and leaves a backward reaches, what the user calls them, and which saved tensor stopped it.

Runs inside the child. Walks graphs by `grad_fn` and `next_functions`, which stay readable after a backward has freed
the saved tensors.
"""

from __future__ import annotations

import gc
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

import torch

from torchlint.verify.nodes import is_leaf, node_of

NODES = 50_000
"""A graph is walked no further than this."""


class Leaves:
    """
    The leaves seen so far, by name.

    Parameters
    ----------
    files
        The names the program's code objects carry; only their variables are looked through for names.
    """

    def __init__(self, files: Container[str]) -> None:
        self.files = files
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
            if frame.f_code.co_filename in self.files:
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
    `_raw_saved_….data` gives the tensor all the same (torch/csrc/autograd/init.cpp, `SavedTensor`). The node of a
    custom Function reads all of its own at once, by `saved_tensors` (torch/csrc/autograd/python_function.cpp).
    """
    words = message.partition(" Hint: ")[0]
    if "modified by an inplace operation" not in words:
        return
    for node in _nodes(node_of(root) for root in roots):
        for name in dir(node):
            if not name.startswith("_raw_saved_"):
                continue
            read = name.replace("_raw", "", 1)
            try:
                getattr(node, read if hasattr(type(node), read) else read[1:], None)
            except RuntimeError as error:
                if str(error).partition(" Hint: ")[0] == words:
                    raw = getattr(node, name)
                    for each in raw if isinstance(raw, tuple) else (raw,):
                        data = getattr(each, "data", None)
                        if isinstance(data, torch.Tensor):
                            yield data


def graph_of(roots: Iterable[torch.Tensor], limit: int) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """
    The graph that a backward from these roots goes through.

    Returns
    -------
    tuple
        Sequence numbers of its nodes, and pairs of such a number and the address of the storage of a tensor that the
        node has saved, of at most so many nodes.
    """
    numbers: list[int] = []
    saved: list[tuple[int, int]] = []
    for node in _nodes(node_of(root) for root in roots):
        if len(numbers) >= limit:
            break
        number = node._sequence_nr()
        if number < 1 << 53:  # the nodes of leaves have the highest number there is
            numbers.append(number)
        for name in dir(type(node)):
            if name.startswith("_raw_saved_"):
                saved += [(number, address) for address in _addresses(getattr(node, name, None))]
    return tuple(numbers), tuple(saved[: 2 * limit])


def _addresses(saved: Any) -> Iterator[int]:
    for each in saved if isinstance(saved, tuple) else (saved,):
        try:
            data = getattr(each, "data", None)
            if isinstance(data, torch.Tensor):
                yield data.untyped_storage().data_ptr()
        except (RuntimeError, NotImplementedError):
            continue


def tensors_in(value: object, depth: int = 3) -> list[torch.Tensor]:
    """The tensors in a tensor, Module, optimizer, list, tuple or dictionary."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth == 0:
        return []
    if isinstance(value, torch.nn.Module):
        return list(value.parameters())
    if isinstance(value, torch.optim.Optimizer):
        return [p for group in value.param_groups for p in group["params"]]
    if isinstance(value, Mapping):
        return [tensor for item in value.values() for tensor in tensors_in(item, depth - 1)]
    if isinstance(value, (list, tuple, set)):
        return [tensor for item in value for tensor in tensors_in(item, depth - 1)]
    return []


def distributed(module: torch.nn.Module) -> bool:
    """Whether a wrapper that is alive sums the gradients of a Module over processes, and waits for all of them."""
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return False  # without that, a wrapper cannot be made: no need to look
    kind = torch.nn.parallel.DistributedDataParallel
    found = [each for each in gc.get_objects() if isinstance(each, kind) and not each.find_unused_parameters]
    return any(part is module for each in found for part in each.modules())


def optimized(*values: object) -> bool:
    """Whether an optimizer that is alive was given a tensor in a value; of no value, one that no Module has (more)."""
    alive = gc.get_objects()
    given = {id(p) for each in alive if isinstance(each, torch.optim.Optimizer) for p in tensors_in(each)}
    if values:
        return any(id(tensor) in given for value in values for tensor in tensors_in(value))
    modules = [each for each in alive if isinstance(each, torch.nn.Module)]
    return bool(given - {id(p) for each in modules for p in each.parameters(recurse=False)})


def nameless(value: object, frame: FrameType | None, files: Container[str]) -> list[torch.Tensor]:
    """The leaves in the graph of a tensor that no variable of the program leads to, not counting optimizers."""
    leaves = list(_leaves(tensor for tensor in tensors_in(value) if node_of(tensor) is not None))
    held: set[int] = set()
    while frame is not None:
        if frame.f_code.co_filename in files:
            for scope in (frame.f_locals, frame.f_globals):
                held.update(id(tensor) for item in list(scope.values()) for tensor in _held(item, 3))
        frame = frame.f_back
    return [leaf for leaf in leaves if id(leaf) not in held]


def _held(value: object, depth: int) -> Iterator[torch.Tensor]:
    """The tensors that an object leads to by its items and attributes, not only those torch knows."""
    if isinstance(value, torch.Tensor):
        yield value
        return
    if (
        depth == 0
        or isinstance(value, (str, bytes, type, torch.optim.Optimizer))
        or (type(value).__module__ == "builtins" and not value)
    ):
        return
    yield from tensors_in(value, depth)
    inner: list[object] = []
    if isinstance(value, (list, tuple, set)):
        inner = list(value)[:256]
    elif isinstance(value, Mapping):
        inner = list(value.values())[:256]
    elif hasattr(value, "__dict__") and not isinstance(value, ModuleType):
        inner = list(vars(value).values())[:256]
    for item in inner:
        yield from _held(item, depth - 1)


def _leaves(roots: Iterable[torch.Tensor]) -> Iterator[torch.Tensor]:
    given: set[int] = set()
    inner = []
    for root in roots:
        if (node := node_of(root)) is not None:
            inner.append(node)
        elif root.requires_grad and id(root) not in given and is_leaf(root):
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
