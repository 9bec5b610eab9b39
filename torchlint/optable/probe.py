"""
Watches one call under torch: what autograd saved, and what the call wrote, shared and cut.

It is told nothing: a tensor counts as saved if bumping its version after the call (and nothing else) makes the backward
raise. The call is repeated for several choices of which inputs require grad. `op_table` draws the table of composed
operations from such observations, and the tests hold the whole table against them.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge, increment_version
from torch.utils import _pytree as pytree

Slot: TypeAlias = "tuple[str | int, int]"
"""A tensor among the arguments: the argument's position or keyword, and its place within it (0 but in a list)."""

Seen: TypeAlias = Literal["yes", "no", "mixed"]
"""`mixed`: it depends on which of several outputs the backward starts from."""

OVERWRITTEN = "modified by an inplace operation"
FREED = "Trying to backward through the graph a second time"
NOT_IMPLEMENTED = "is not implemented"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of `function` with these arguments; its tensors are templates that are copied for each run."""

    function: Callable[..., Any]
    positional: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def slots(self) -> dict[Slot, torch.Tensor]:
        """The tensors among the arguments."""
        found: dict[Slot, torch.Tensor] = {}
        arguments: list[tuple[str | int, Any]] = [*enumerate(self.positional), *self.keywords.items()]
        for place, value in arguments:
            tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
            found.update({(place, at): tensor for at, tensor in enumerate(tensors)})
        return found


@dataclass(frozen=True, slots=True)
class Observation:
    """
    What one run showed, given the slots that required grad.

    Attributes
    ----------
    requires
        The slots that required grad.
    outputs
        Per tensor in the result: whether it requires grad.
    tensor
        Whether the result is a single tensor (else a tuple or list of tensors, or nothing of torch's).
    fixed
        Whether the result is a named tuple, or otherwise of a length that does not depend on the arguments.
    node
        Name of the first output's `grad_fn`.
    derivable
        False: torch has no derivative for it, and a backward says so before it looks at anything saved.
    saved
        Slots, and output numbers, that a backward finds overwritten once their version is bumped.
    holds
        Whether a second backward raises.
    written
        Slots whose version the call itself bumped.
    same
        The result is this slot's very object.
    shares
        Slots whose storage an output shares.
    counted
        Slots whose version counter an output shares.
    view
        As `torchlint.knowledge.ops.find.Op.view`.
    """

    requires: frozenset[Slot]
    outputs: tuple[bool, ...]
    tensor: bool
    fixed: bool
    node: str
    derivable: bool
    saved: Mapping[Slot | int, Seen]
    holds: Seen
    written: frozenset[Slot]
    same: Slot | None
    shares: frozenset[Slot]
    counted: frozenset[Slot]
    view: str


def observe_all(call: Call) -> Iterator[Observation]:
    """The call under each choice of `choices` that torch accepts."""
    for requires in choices(call):
        seen = observe(call, requires)
        if seen is not None:
            yield seen


def choices(call: Call) -> Iterator[frozenset[Slot]]:
    """
    Which inputs to let require grad: all subsets of up to three; of more, all, each one, and all but one; nothing
    only if no input can.
    """
    floating = [slot for slot, tensor in call.slots().items() if tensor.is_floating_point() or tensor.is_complex()]
    if not floating:
        yield frozenset()
    if len(floating) <= 3:
        for size in range(len(floating), 0, -1):
            yield from (frozenset(subset) for subset in itertools.combinations(floating, size))
        return
    everything = frozenset(floating)
    yield everything
    for slot in floating:
        yield frozenset({slot})
        yield everything - {slot}


Root: TypeAlias = "tuple[GradientEdge, torch.Tensor]"
"""Where a backward starts, and the gradient it starts with."""


@dataclass(frozen=True, slots=True)
class _Run:
    inputs: Mapping[Slot, torch.Tensor]
    leaves: Sequence[torch.Tensor]
    result: Any
    outputs: Sequence[torch.Tensor]
    written: frozenset[Slot]

    def starts(self) -> list[list[Root]]:
        """
        What a backward may start from: all outputs together, and, where there are several, each of the first four.
        Edges are taken now: a view whose base is bumped later gets another `grad_fn`, which is not what is asked here.
        """
        roots = [
            (get_gradient_edge(output), torch.ones_like(output))
            for output in self.outputs
            if output.requires_grad and output.grad_fn is not None
        ]
        return [roots, *([root] for root in roots[:4])] if len(roots) > 1 else [roots] if roots else []


def _run(call: Call, requires: frozenset[Slot]) -> _Run | None:
    torch.default_generator.manual_seed(0)  # `torch.manual_seed` also keeps a stack trace per call for each accelerator
    inputs: dict[Slot, torch.Tensor] = {}
    leaves: list[torch.Tensor] = []

    def copy(place: str | int, value: Any) -> Any:
        at = itertools.count()

        def one(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            slot = (place, next(at))
            fresh = leaf.detach().clone()
            if slot in requires:
                leaves.append(fresh.requires_grad_())
                fresh = fresh.clone()
            inputs[slot] = fresh
            return fresh

        return pytree.tree_map(one, value)

    positional = [copy(place, value) for place, value in enumerate(call.positional)]
    keywords = {place: copy(place, value) for place, value in call.keywords.items()}
    before = {slot: tensor._version for slot, tensor in inputs.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call.function(*positional, **keywords)
    except Exception:
        return None
    outputs = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    if any(tensor.layout != torch.strided for tensor in (*inputs.values(), *outputs)):
        return None
    written = frozenset(slot for slot, tensor in inputs.items() if tensor._version != before[slot])
    return _Run(inputs, leaves, result, outputs, written)


def observe(call: Call, requires: frozenset[Slot]) -> Observation | None:
    """Runs the call; None if torch refuses it, or its backward for a reason that is not looked for here."""
    run = _run(call, requires)
    if run is None:
        return None
    starts = run.starts()
    errors = {_backward(start, run.leaves, retain=True) for start in starts}
    if NOT_IMPLEMENTED in errors:
        starts = []  # recorded, but no backward ever gets to what was saved
    elif errors - {""}:
        return None
    node = (
        run.outputs[0].grad_fn.name().rpartition("::")[2] if run.outputs and run.outputs[0].grad_fn is not None else ""
    )
    view = _view(run)
    watched: list[tuple[Slot | int, torch.Tensor]] = [*run.inputs.items(), *enumerate(run.outputs)]
    saved = {what: _overwritten(tensor, starts, run.leaves) for what, tensor in watched} if starts else {}
    result, outputs, inputs = run.result, run.outputs, run.inputs
    return Observation(
        requires=requires,
        outputs=tuple(output.requires_grad for output in outputs),
        tensor=isinstance(result, torch.Tensor),
        fixed=hasattr(result, "_fields") or type(result).__module__ == "torch.return_types",
        node=node,
        derivable=NOT_IMPLEMENTED not in errors,
        saved=saved,
        holds=_holds(call, requires, run) if starts else "no",
        written=run.written,
        same=next((slot for slot, tensor in inputs.items() if tensor is result), None),
        shares=frozenset(slot for slot, tensor in inputs.items() if any(_shares(tensor, out) for out in outputs)),
        counted=frozenset(slot for slot, tensor in inputs.items() if any(_counts(tensor, out) for out in outputs)),
        view=view,
    )


def _backward(roots: Sequence[Root], leaves: Sequence[torch.Tensor], retain: bool) -> str:
    """What a backward from these roots raises: "", OVERWRITTEN, FREED, NOT_IMPLEMENTED, or torch's own words."""
    try:
        torch.autograd.grad(
            [edge for edge, _ in roots],
            leaves,
            [gradient for _, gradient in roots],
            retain_graph=retain,
            allow_unused=True,
        )
    except Exception as error:
        text = str(error)
        return next(
            (kind for kind in (OVERWRITTEN, FREED, NOT_IMPLEMENTED) if kind in text), text or type(error).__name__
        )
    return ""


def _overwritten(tensor: torch.Tensor, starts: Sequence[Sequence[Root]], leaves: Sequence[torch.Tensor]) -> Seen:
    version = tensor._version
    increment_version(tensor)
    verdicts = {_backward(start, leaves, retain=True) == OVERWRITTEN for start in starts}
    torch._C._autograd._unsafe_set_version_counter((tensor,), (version,))
    return "mixed" if len(verdicts) == 2 else "yes" if True in verdicts else "no"


def _holds(call: Call, requires: frozenset[Slot], first: _Run) -> Seen:
    verdicts: set[bool] = set()
    for at in range(len(first.starts())):
        run = _run(call, requires) if at else first
        if run is None:
            continue
        start = run.starts()[at]
        _backward(start, run.leaves, retain=False)
        verdicts.add(_backward(start, run.leaves, retain=False) == FREED)
    return "mixed" if len(verdicts) == 2 else "yes" if True in verdicts else "no"


def _shares(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr() != 0)


def _counts(one: torch.Tensor, other: torch.Tensor) -> bool:
    version = one._version
    if other._version != version:
        return False
    increment_version(other)
    shared = bool(one._version != version)
    torch._C._autograd._unsafe_set_version_counter((other,), (version,))
    return shared


_MULTI = ("UnbindBackward0", "SplitBackward0", "SplitWithSizesBackward0")


def _view(run: _Run) -> Literal["", "view", "multi"]:
    bases = {id(tensor) for tensor in run.inputs.values()}
    views = [out for out in run.outputs if out._is_view() and id(out._base) in bases and out.requires_grad]
    if not views:
        return ""
    node = views[0].grad_fn
    return "multi" if node is not None and node.name() in _MULTI else "view"
