"""
Optimizers of `torch.optim`: what they are built over, `step` and `zero_grad`.

A `step` writes to parameters that have a gradient, and records nothing.
"""

from __future__ import annotations

from torchlint.model.autograd.edges import regenerate
from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.writes import is_none, write
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import NONE, Optimizer, Sequence, Tensor, Value, alternatives
from torchlint.model.torch.arguments import cst_of, known_tensors
from torchlint.model.torch.torch import Torch


def new_optimizer(torch: Torch, qualified: str, site: CallSite) -> Value:
    """A call of an optimizer's class."""
    given = site.get(0, "params")
    tensors: list[Tensor] = []
    complete = False
    if isinstance(given, Sequence) and given.items is not None:
        items = _without_names(given.items)
        tensors = [tensor for each in items for _, tensor in known_tensors(each)]
        complete = all(isinstance(each, Tensor) for each in items)
        _refuse_parameters(torch, items, qualified.rpartition(".")[2], site)
    optimizer = Optimizer(qualified, tuple(tensors), complete)
    for hook in torch.machine.watch.optimizer_built:
        hook(optimizer, given, site.node)
    return optimizer


def _refuse_parameters(torch: Torch, items: tuple[Value, ...], name: str, site: CallSite) -> None:
    machine = torch.machine
    assumed = machine.assumed
    if not all(isinstance(each, Tensor) for value in items for _, each in alternatives(value)):
        return
    for value in items:
        for guard, tensor in known_tensors(value):
            machine.assumed = assumed | guard
            regenerate(torch.autograd, tensor)  # Python's `is_leaf` asks for the grad_fn
            if not tensor.retains_grad:
                refuse(torch.autograd, "optimizer", name, tensor, site.node, ~tensor.is_leaf)
    machine.assumed = assumed


def optimizer_method(torch: Torch, optimizer: Optimizer, name: str, site: CallSite) -> Value | None:
    """`optimizer.step()`, `optimizer.zero_grad()`; None for anything else."""
    machine = torch.machine
    if name == "zero_grad":
        for hook in machine.watch.zeroed:
            hook(optimizer, site.node)
        for tensor in optimizer.parameters:
            if tensor.grad is not NONE:
                machine.trail.set(tensor, "grad", NONE)
        return NONE
    if name != "step":
        return None
    for hook in machine.watch.stepped:
        hook(optimizer, site.node)
    mode = machine.grad_mode
    machine.grad_mode = Truth.NO
    target = cst_of(site.node.function)
    for tensor in optimizer.parameters:
        if is_none(tensor.grad) is not Truth.YES:
            write(
                torch.autograd,
                tensor,
                site.node,
                target,
                "step()",
                "optimizer",
                name=tensor.name,
                certain=is_none(tensor.grad) is Truth.NO,
            )
    machine.grad_mode = mode
    return NONE


def _without_names(parameters: tuple[Value, ...]) -> tuple[Value, ...]:
    """Parameters given as pairs of a name and a tensor; the name may be anything (`Optimizer.add_param_group`)."""
    pairs = [each.items for each in parameters if isinstance(each, Sequence) and each.kind == "tuple" and each.items]
    named = len(pairs) == len(parameters) and all(len(pair) > 1 for pair in pairs)
    return tuple(pair[1] for pair in pairs) if named else parameters
