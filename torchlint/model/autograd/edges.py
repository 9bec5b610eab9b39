"""
Nodes of the graph and where they lead: a tensor's `grad_fn`, or the tensor itself if it is a leaf.

A view whose base was written since gets a new `grad_fn`, as in `torch/csrc/autograd/variable.cpp`. Runs no operation.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.knowledge.ops.find import Op
from torchlint.model.autograd.autograd import Autograd
from torchlint.model.autograd.refusals import kind_of_view, refuse
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin, implied, left_by
from torchlint.model.state.machine import records
from torchlint.model.state.values import GRAD_NO, Grad, GraphNode, Tensor, Write, is_open, unknown_guard
from torchlint.syntax import ir


def running_statement(autograd: Autograd) -> ir.Node:
    """The statement that runs."""
    assert autograd.machine.statement is not None
    return autograd.machine.statement


def _known_edges(tensor: Tensor) -> tuple[tuple[Guard, GraphNode | Tensor], ...]:
    if tensor.grad_fn:
        if not tensor.grad_fn[0][0] or tensor.own is GRAD_NO or tensor.own == GRAD_NO:
            return tensor.grad_fn
        if all(is_open(guard) for guard, _ in tensor.grad_fn):
            return (*tensor.grad_fn, (unknown_guard(), tensor))  # told to require grad, it may be a leaf
        # as where it was detached and told so
        return (*tensor.grad_fn, *((each, tensor) for each in left_by(guard for guard, _ in tensor.grad_fn)))
    if tensor.own is GRAD_NO or tensor.own == GRAD_NO:
        return ()  # also a view, made under `no_grad`, of a tensor that requires grad
    return ((ALWAYS, tensor),)


def edges_of(autograd: Autograd, tensor: Tensor) -> tuple[tuple[Guard, GraphNode | Tensor], ...]:
    """Where a gradient of this tensor flows: its `grad_fn`, or itself if it is a leaf that may require grad."""
    regenerate(autograd, tensor)
    return _known_edges(tensor)


def possible_edges(autograd: Autograd, tensor: Tensor) -> tuple[tuple[Guard, GraphNode | Tensor], ...]:
    """
    Where a gradient flows of what code that nobody knows may have computed of this tensor. Whether that code has asked
    for its `grad_fn` is not known, so torch refuses nothing here.
    """
    if kind_of_view(tensor) is None:
        regenerate(autograd, tensor)
    return _known_edges(tensor)


def regenerate(autograd: Autograd, tensor: Tensor) -> None:
    """Give a view a new `grad_fn` if its base was written in place since (PyTorch: AsStridedBackward)."""
    machine = autograd.machine
    base = tensor.base
    if base is None or (not tensor.grad_fn and base.requires_grad == GRAD_NO):
        return
    write = _moved(autograd, tensor)
    if write is None:
        return
    edges = edges_of(autograd, base)
    machine.trail.set(tensor, "grad_time", machine.tick())
    kind = kind_of_view(tensor)
    sure = implied(write.path | write.assumed | machine.assumed, machine.path)
    if kind is not None:
        known = sure and records(machine) is not Truth.MAYBE
        truth = tensor.requires_grad.truth() if known else Truth.MAYBE
        if not tensor.grad_fn:
            truth &= base.requires_grad.truth()  # told to require grad itself, it is a leaf that torch looks at no more
        refuse(autograd, kind, write.op, tensor, running_statement(autograd), truth)
        return
    if not edges and not tensor.grad_fn:
        return
    # A base that was detached since leads nowhere, and its view has a new node all the same.
    condition = base.own if edges else tensor.requires_grad
    if not sure:  # where nothing was written it has the node that it had, or none
        condition = condition.join(tensor.grad_fn[0][1].condition if tensor.grad_fn else GRAD_NO)
    node = new_node(autograd, "AsStridedBackward0", "as_strided", tensor.origin, condition, edges, Truth.NO)
    machine.trail.set(tensor, "grad_fn", ((ALWAYS, node),))


def _moved(autograd: Autograd, tensor: Tensor) -> Write | None:
    """The last write since the tensor got its `grad_fn`, through any alias that shares its version counter."""
    for write in reversed(tensor.storage.writes):
        if write.time <= tensor.grad_time:
            return None
        if (
            write.counter is tensor.counter
            and conjoin(write.path, write.assumed, autograd.machine.path, autograd.machine.assumed) is not None
        ):
            return write
    return None


def new_node(
    autograd: Autograd,
    name: str,
    op: str,
    origin: ir.Node,
    condition: Grad,
    edges: Iterable[tuple[Guard, GraphNode | Tensor]],
    holds: Truth,
) -> GraphNode:
    """Record a graph node now."""
    machine = autograd.machine
    if machine.budget.outside:
        machine.budget.outside_left -= 1
    return GraphNode(
        name=name,
        op=op,
        origin=origin,
        line=machine.line(),
        time=machine.tick(),
        condition=condition,
        edges=tuple(edges),
        holds=holds,
        built_in=machine.built_in,
        iteration=machine.iteration,
        foreign_call=machine.foreign_call,
    )


def outputs(autograd: Autograd, op: Op, node: GraphNode | None, count: int) -> list[GraphNode | None]:
    """
    The nodes that the results of an operation have, where there are several: a gradient of one is none of another.
    """
    if node is None or count < 2 or (op.probed and not op.view):
        return [node] * count
    # `tensor_split` and its kin: each part is a slice with a node of its own, and they share none
    apart = op.sequence and op.view == "view" and op.probed and op.node != ""
    found: list[GraphNode | None] = []
    for _ in range(count):
        edges = node.edges if apart else [(ALWAYS, node)]
        output = new_node(autograd, node.name, node.op, node.origin, node.condition, edges, Truth.NO)
        output.output_of = None if apart else node
        found.append(output)
    return found
