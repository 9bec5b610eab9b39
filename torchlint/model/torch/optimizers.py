"""
Optimizers of `torch.optim`: what they are built over, `step` and `zero_grad`.

A `step` writes to parameters that have a gradient, and records nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from torchlint.model.autograd.edges import regenerate
from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.writes import drop_grad, is_none, write
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import ALWAYS, Truth
from torchlint.model.state.values import (
    NONE,
    Constant,
    Mapping,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.model.torch.arguments import cst_of, known_tensors, truth_of
from torchlint.model.torch.torch import Torch


def new_optimizer(torch: Torch, qualified: str, site: CallSite) -> Value:
    """A call of an optimizer's class."""
    given = site.get(0, "params")
    tensors, complete = _taken(torch, given, qualified.rpartition(".")[2], site)
    optimizer = Optimizer(qualified, tuple(tensors), complete, () if complete else _possible(given, tensors))
    optimizer.evaluates = qualified.rpartition(".")[2] == "LBFGS" and _goes_on(site)
    for hook in torch.machine.watch.optimizer_built:
        hook(optimizer, given, site.node)
    return optimizer


def _taken(torch: Torch, given: Value | None, name: str, site: CallSite) -> tuple[list[Tensor], bool]:
    """The tensors in what an optimizer is given, in groups or not, and whether these are all."""
    if not isinstance(given, Sequence):
        return [], False
    if given.items is None:
        return [each for each in _without_names(given.among) if isinstance(each, Tensor)], False
    groups = [each for each in given.items if isinstance(each, Mapping)]
    if groups and len(groups) == len(given.items):
        found = [_group(torch, each, name, site) for each in groups]
        if all(known for _, known in found):
            for number, (tensors, _) in enumerate(found):
                _refuse_twice(torch, tensors, [each for others, _ in found[:number] for each in others], name, site)
        return [tensor for tensors, _ in found for tensor in tensors], all(known for _, known in found)
    items = _without_names(given.items)
    _refuse_parameters(torch, items, name, site)
    # of one of several tensors nobody knows whether a step writes it
    options = [known_tensors(each) for each in items]
    sure = [each[0][1] for each in options if len(each) == 1 and not each[0][0]]
    return sure, all(isinstance(each, Tensor) for each in items)


def _possible(given: Value | None, sure: Collection[Tensor]) -> tuple[Tensor, ...]:
    """What else than some tensors may be among those that an optimizer is given."""
    known = {id(each) for each in sure}
    return tuple(each for each in (reachable_tensors(given) if given is not None else ()) if id(each) not in known)


def _group(torch: Torch, group: Value | None, name: str, site: CallSite) -> tuple[list[Tensor], bool]:
    """The tensors of one group, `{"params": ...}`: an iterable of them, or one alone (`Optimizer.add_param_group`)."""
    if not isinstance(group, Mapping) or group.items is None or "params" not in group.items:
        return [], False
    inner = group.items["params"]
    if isinstance(inner, Tensor):
        inner = Sequence("list", (inner,))
    return _taken(torch, inner, name, site) if isinstance(inner, Sequence) else ([], False)


def _refuse_twice(torch: Torch, added: list[Tensor], before: Iterable[Tensor], name: str, site: CallSite) -> None:
    """A tensor of a group that another group holds (`Optimizer.add_param_group`)."""
    held = {id(each) for each in before}
    twice = next((each for each in added if id(each) in held), None)
    if twice is not None:
        refuse(torch.autograd, "parameter-twice", name, twice, site.node)


def _goes_on(site: CallSite) -> bool:
    """
    Whether a step of `LBFGS` iterates: it calls the closure once more after each update (torch/optim/lbfgs.py).
    """
    most, calls = site.get(2, "max_iter"), site.get(3, "max_eval")
    known = [each.value for each in (most, calls) if isinstance(each, Constant) and each.value is not None]
    given = [each for each in (most, calls) if each is not None and each != NONE]
    return site.complete and len(known) == len(given) and all(isinstance(each, int) and each > 1 for each in known)


def _refuse_parameters(torch: Torch, items: tuple[Value, ...], name: str, site: CallSite) -> None:
    machine = torch.machine
    assumed = machine.assumed
    if not all(isinstance(each, Tensor) for value in items for _, each in alternatives(value)):
        return
    for value in items:
        for guard, tensor in known_tensors(value):
            machine.assumed = assumed | guard
            regenerate(torch.autograd, tensor)  # Python's `is_leaf` asks for the grad_fn
            # unknown code may have had it retain its gradient
            if not tensor.retains_grad and not tensor.storage.handed_on():
                refuse(torch.autograd, "optimizer", name, tensor, site.node, ~tensor.is_leaf)
    machine.assumed = assumed


def optimizer_method(torch: Torch, optimizer: Optimizer, name: str, site: CallSite) -> Value | None:
    """`optimizer.step()`, `optimizer.zero_grad()`; None for anything else."""
    machine = torch.machine
    if name == "zero_grad":
        for hook in machine.watch.zeroed:
            hook(optimizer, site.node)
        to_none = truth_of(site.get(0, "set_to_none"), Truth.YES)
        for tensor in optimizer.parameters:
            drop_grad(torch.autograd, tensor, to_none)
        return NONE
    if name == "add_param_group":
        added, complete = _group(torch, site.get(0, "param_group"), optimizer.qualified.rpartition(".")[2], site)
        if optimizer.complete and complete:
            _refuse_twice(torch, added, optimizer.parameters, name, site)
        machine.trail.set(optimizer, "parameters", (*optimizer.parameters, *added))
        machine.trail.set(optimizer, "complete", optimizer.complete and complete)
        if not complete:
            possible = _possible(site.get(0, "param_group"), added)
            machine.trail.set(optimizer, "possible", (*optimizer.possible, *possible))
        return NONE
    if name != "step":
        return None
    for hook in machine.watch.stepped:
        hook(optimizer, site.node)
    update(torch, optimizer, site)
    return NONE


def update(torch: Torch, optimizer: Optimizer, site: CallSite) -> None:
    """
    Write the parameters that have a gradient: those known, and perhaps what else it was given, or unknown code that may
    have made its list.
    """
    _write(torch, optimizer.parameters, site)
    if not optimizer.complete:
        known = {id(each) for each in optimizer.parameters}
        perhaps = (*optimizer.possible, *torch.autograd.escaped)
        _write(torch, [each for each in perhaps if id(each) not in known], site, certain=False)


def may_update(torch: Torch, tensors: Iterable[Tensor], site: CallSite) -> None:
    """What is called may be the `step` of an optimizer that nobody knows: it may write what it was given."""
    _write(torch, {id(each): each for each in (*tensors, *torch.autograd.escaped)}.values(), site, certain=False)


def _write(torch: Torch, tensors: Iterable[Tensor], site: CallSite, *, certain: bool = True) -> None:
    machine = torch.machine
    mode, assumed = machine.grad_mode, machine.assumed
    machine.grad_mode = Truth.NO
    target = cst_of(site.node.function)
    for tensor in tensors:
        if is_none(tensor.grad) is not Truth.YES:
            machine.assumed = assumed | (tensor.own.guard() or ALWAYS)  # mostly what does not require grad has none
            write(
                torch.autograd,
                tensor,
                site.node,
                target,
                "step()",
                "optimizer",
                name=tensor.name,
                certain=certain and is_none(tensor.grad) is Truth.NO,
            )
    machine.grad_mode, machine.assumed = mode, assumed


def _without_names(parameters: tuple[Value, ...]) -> tuple[Value, ...]:
    """Parameters given as pairs of a name and a tensor; the name may be anything (`Optimizer.add_param_group`)."""
    pairs = [each.items for each in parameters if isinstance(each, Sequence) and each.kind == "tuple" and each.items]
    named = len(pairs) == len(parameters) and all(len(pair) > 1 for pair in pairs)
    return tuple(pair[1] for pair in pairs) if named else parameters
