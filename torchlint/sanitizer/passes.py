"""
What is kept of every backward: which nodes it goes through, which of them ran last, and where a gradient became NaN.

Stands around the engine and in front of its nodes. Only looks: no gradient is changed or kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from sys import _getframe
from typing import Any

import torch

from torchlint.sanitizer.calls import KEY, Calls, Recorded, is_readable, is_recorded_elsewhere, recorded_by, tensors
from torchlint.sanitizer.places import Place, here
from torchlint.verify.nodes import node_of

NODES = 20_000
"""A graph is walked no further than this."""


@dataclass(eq=False)
class Pass:
    """A backward."""

    place: Place
    clock: int
    number: int
    nodes: int = 0
    ran: list[int] = field(default_factory=list)
    """Nodes in the order they began, by the address of their metadata; the last is where it failed, if it failed."""
    graph: list[Any] = field(default_factory=list)
    """Its nodes, while it runs."""

    def node(self, key: int) -> Any:
        """The node with this address of its metadata, while the backward runs."""
        return next((node for node in self.graph if id(node.metadata) == key), None)


@dataclass
class Broken:
    """The first gradient or loss that was not finite."""

    where: Pass
    kind: str
    made: Recorded | None
    node: str
    leaf: Any = None


@dataclass
class Failure:
    """A backward that raised, with the graph as it was then."""

    error: BaseException
    where: Pass
    reader: Any
    nodes: list[Any]
    roots: list[torch.Tensor]
    inputs: list[torch.Tensor]


class Passes:
    """
    Stands around the engine.

    Parameters
    ----------
    calls
        What is kept of calls.
    check
        Whether gradients are looked at for NaN and infinity.
    """

    def __init__(self, calls: Calls, *, check: bool = True) -> None:
        self.calls = calls
        self.check = check
        self.number = 0
        self.inside: list[Pass] = []
        self.broken: Broken | None = None
        self.failures: list[Failure] = []
        self.after: list[Callable[[Pass, Sequence[torch.Tensor], list[Any]], None]] = []
        self.seen: list[Callable[[Pass, int, Sequence[Any]], None]] = []

    def install(self) -> None:
        """Take the engine's place; `backward` and `grad` find it by this name (torch 2.3 and later)."""
        engine = getattr(torch.autograd, "_engine_run_backward", None)
        if engine is None:
            return

        def run(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
            return self._run(engine, t_outputs, args, kwargs)

        torch.autograd._engine_run_backward = run

    def _run(self, engine: Callable[..., Any], outputs: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if is_recorded_elsewhere():
            return engine(outputs, *args, **kwargs)
        roots = list(tensors((outputs,), {}))
        with torch._C.DisableTorchFunction():
            nodes = list(walk(node_of(root) for root in roots))
        self.calls.clock += 1
        self.number += 1
        current = Pass(here(_getframe(2)), self.calls.clock, self.number, len(nodes), graph=nodes)
        for node in nodes:
            self._watch(node)
        if self.check and self.broken is None:
            self._roots(current, roots)
        keep = args[1] if len(args) > 1 else kwargs.get("keep_graph")
        # The mode is off while torch runs a function that it was called for; hooks and recomputed forwards
        # are the program's, and are watched.
        again = nullcontext() if _watching(self.calls) else self.calls
        self.inside.append(current)
        self.calls.inside += 1
        try:
            with again:
                result = engine(outputs, *args, **kwargs)
        except BaseException as error:
            reader = current.node(current.ran[-1]) if current.ran else None
            given = args[3] if len(args) > 3 and isinstance(args[3], (tuple, list)) else ()
            self.failures = [
                *[each for each in self.failures if each.error is not error][-2:],
                Failure(error, current, reader, nodes, roots, list(tensors((given,), {}))),
            ]
            raise
        finally:
            self.inside.pop()
            self.calls.inside -= 1
            current.graph, current.ran = [], []
        if not keep:
            for node in nodes:
                made = recorded_by(node)
                if made is not None:
                    made.freed = current
        for each in self.after:
            each(current, roots, nodes)
        return result

    def _watch(self, node: Any) -> None:
        metadata = node.metadata
        if metadata.get(KEY + ".hook"):
            return
        metadata[KEY + ".hook"] = True

        # Not the node: it holds its hooks, and would hold itself.
        key = id(metadata)

        def before(gradients: Sequence[Any]) -> None:
            if not self.inside:
                return
            current = self.inside[-1]
            current.ran.append(key)
            for each in self.seen:
                each(current, key, gradients)
            if self.check and self.broken is None and not all(map(finite, filter(_is_tensor, gradients))):
                self._made(current, key)

        node.register_prehook(before)

    def _roots(self, current: Pass, roots: Sequence[torch.Tensor]) -> None:
        for root in roots:
            if not finite(root):
                made = recorded_by(node_of(root))
                first = first_not_finite(root)
                made = first or made
                self.broken = Broken(current, "loss", made, "" if made is None else made.op)
                return

    def _made(self, current: Pass, key: int) -> None:
        """The gradient that came to this node was made by the last of those that ran and lead to it."""
        reached = current.node(key)
        before = {number: order for order, number in enumerate(current.ran)}
        leading = [
            node
            for node in current.graph
            if id(node.metadata) in before and any(following is reached for following, _ in node.next_functions)
        ]
        node = max(leading, key=lambda each: before[id(each.metadata)], default=reached)
        if node is not None:
            leaf = getattr(reached, "variable", None)
            self.broken = Broken(current, "gradient", recorded_by(node), node.name(), leaf)


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _watching(calls: Calls) -> bool:
    stack = torch.overrides._get_current_function_mode_stack()
    return any(each is calls for each in stack)


def finite(tensor: torch.Tensor) -> bool:
    """Whether all numbers of a tensor are; nothing is asked of what has none."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.layout is not torch.strided:
            return True
        if not is_readable(tensor) or tensor.numel() == 0:
            return True
        try:
            total = tensor.detach().sum().item()
            if isinstance(total, complex):
                total = total.real + total.imag
            return math.isfinite(total) or bool(torch.isfinite(tensor).all())
        except RuntimeError:  # `is_grads_batched`: the tensor stands for many
            return True


def walk(start: Iterator[Any]) -> Iterator[Any]:
    """The nodes behind some nodes."""
    waiting = [node for node in start if node is not None]
    done: set[Any] = set()
    while waiting and len(done) < NODES:
        node = waiting.pop()
        if node not in done:
            done.add(node)
            yield node
            waiting.extend(following for following, _ in reversed(node.next_functions) if following is not None)


def first_not_finite(root: torch.Tensor) -> Recorded | None:
    """The first call, in the order of the program, that saved a result or an argument that is not finite."""
    found: Recorded | None = None
    for node in walk(iter((node_of(root),))):
        made = recorded_by(node)
        if made is None or (found is not None and found.clock <= made.clock):
            continue
        for name, value in saved_by(node):
            if isinstance(value, torch.Tensor) and not finite(value):
                origin = _producer(node, value) if name != "result" else made
                found = origin if origin is not None else made
                break
    return found


def _producer(node: Any, value: torch.Tensor) -> Recorded | None:
    return recorded_by(node_of(value))


def saved_by(node: Any) -> Iterator[tuple[str, Any]]:
    """
    What a node has saved and still holds, by name: tensors, and the error that reading one raises.

    Not what the program packs itself (`torch.autograd.graph.saved_tensors_hooks`, `checkpoint`): reading that runs the
    program's function, which may compute a forward again.
    """
    names = [name for name in dir(type(node)) if name.startswith("_saved_")]
    for name in names or ["saved_tensors"]:
        try:
            value = None if _is_packed(node, name) else getattr(node, name, None)
        except RuntimeError as error:
            value = error
        told = name.removeprefix("_saved_") if names else "a saved tensor"
        if isinstance(value, (tuple, list)):
            yield from ((told, each) for each in value)
        elif value is not None:
            yield told, value


def _is_packed(node: Any, name: str) -> bool:
    """
    Whether a saved tensor is kept by a hook of the program's.

    Raises
    ------
    RuntimeError
        What was saved has been freed.
    """
    raw = getattr(node, f"_raw_{name.removeprefix('_')}", None)
    return any(getattr(each, "unpack_hook", None) is not None for each in (raw if isinstance(raw, tuple) else (raw,)))
