"""
`torch.utils.checkpoint.checkpoint`: a function that is run again when a backward comes by (torch/utils/checkpoint.py).

With `use_reentrant=False` it is a call of the function. With `use_reentrant=True` the function runs without a graph,
and what it returns gets one node; a backward that comes to that runs it once more, on detached inputs that require grad
as the inputs do, and differentiates what that gives. Where nobody knows which of the two, or what is run, it is unknown
code.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from torchlint.model.autograd.edges import new_node
from torchlint.model.autograd.record import RECOMPUTED, edges_into, recorded_grad, save_tensor
from torchlint.model.autograd.tensors import detached_alias, fresh
from torchlint.model.autograd.writes import escape
from torchlint.model.python.module_parts import parameters_of
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.values import (
    GRAD_NO,
    NONE,
    Bound,
    Constant,
    Function,
    GraphNode,
    Instance,
    Module,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    made_of,
    reachable_tensors,
    unknown_guard,
)

CHECKPOINT: Final = "torch.utils.checkpoint.checkpoint"
_PASSED = (Tensor, Constant, Scalar)
"""What a reentrant one takes for a tensor or hands on as it is."""
_OF_CHECKPOINT = frozenset(
    {"function", "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
)


def checkpoint(run: Run, site: CallSite) -> Value | None:
    """`checkpoint(function, *args, use_reentrant=…)`; None where nobody knows what it runs, or how."""
    function, reentrant = site.get(0, "function"), site.keywords.get("use_reentrant", NONE)
    if not isinstance(function, (Function, Bound, Partial, Module, Instance)) or not site.complete:
        return None
    if not site.positional or "context_fn" in site.keywords:
        return None
    own = {name: value for name, value in site.keywords.items() if name not in _OF_CHECKPOINT}
    call = CallSite(site.node, site.positional[1:], own)
    if reentrant == Constant(False):
        return _run_in_place(run, function, call)
    # where it is not said every release so far warns and takes True
    if reentrant in (Constant(True), NONE) and not own and all(isinstance(each, _PASSED) for each in call.positional):
        return _reentrant(run, function, call)
    return None


def _run_in_place(run: Run, function: Value, call: CallSite) -> Value:
    """
    A call of the function that keeps its arguments, and looks whether they are as they were before it runs it again: it
    does so as soon as something that was saved inside is read (`_NoopSaveInputs`).
    """
    autograd, machine = run.autograd, run.machine
    before = machine.tick()
    outer, autograd.recomputed = autograd.recomputed, True
    result = run.invoke(function, call)
    autograd.recomputed = outer
    given = [each for each in call.positional if isinstance(each, Tensor)]
    for tensor in reachable_tensors(result) if given and not machine.dead else ():
        inside = [node for _, node in tensor.grad_fn if node.time > before]
        if tensor.born < before or tensor.base is not None or not any(map(partial(_reads, before), inside)):
            continue
        own = tensor.requires_grad
        node = new_node(autograd, "CheckpointBackward", "checkpoint", call.node, own, tensor.grad_fn, Truth.YES)
        node.saved = tuple([save_tensor(autograd, node, "input", each, before, ALWAYS) for each in given])
        machine.trail.set(tensor, "grad_fn", ((ALWAYS, node),))
    return result


def _reads(before: int, first: GraphNode) -> bool:
    """Whether a backward from a node certainly reads what a node since a moment has saved."""
    node: GraphNode | Tensor = first
    while isinstance(node, GraphNode) and node.time > before:
        if node.opaque:
            return False
        if node.holds is Truth.YES or any(saved.guard == RECOMPUTED for saved in node.saved):
            return True
        sure = [end for guard, end in node.edges if not guard]
        if not sure:
            return False
        node = sure[0]
    return False


def _reentrant(run: Run, function: Value, call: CallSite) -> Value:
    autograd, machine = run.autograd, run.machine
    given = [each for each in call.positional if isinstance(each, Tensor)]
    grad = GRAD_NO
    for tensor in given:
        grad = grad.either(tensor.requires_grad)
    grad = recorded_grad(autograd, grad)
    result = _run_in_mode(run, Truth.NO, function, call)
    outputs = result.items if isinstance(result, Sequence) and result.kind == "tuple" else (result,)
    if machine.dead or outputs is None or not all(isinstance(each, Tensor) for each in outputs):
        return made_of([*call.positional, result], source=call.node)
    node: GraphNode | None = None
    if grad != GRAD_NO:
        sure: Guard = ALWAYS if len(given) == 1 else unknown_guard()
        edges = [(guard | sure, end) for tensor in given for guard, end in edges_into(autograd, tensor)]
        node = new_node(autograd, "CheckpointFunctionBackward", "checkpoint", call.node, grad, edges, Truth.YES)
        node.opaque = True  # it leads to parameters that are none of its inputs
        node.saved = tuple([save_tensor(autograd, node, "input", each, machine.tick(), ALWAYS) for each in given])
        node.recompute = partial(_again, run, function, call)
        escape(autograd, [*given, *_parameters(function)], call.node)
    shared = {id(each.storage) for each in given}
    made = {id(each): _output(run, call, each, node, shared) for each in outputs if isinstance(each, Tensor)}
    if isinstance(result, Sequence):
        return Sequence("tuple", tuple([made[id(each)] for each in outputs]))
    return made[id(result)]


def _output(run: Run, call: CallSite, output: Tensor, node: GraphNode | None, shared: set[int]) -> Tensor:
    ending = node if output.dtype not in ("int", "bool") else None
    own = GRAD_NO if ending is None else ending.condition
    cut = "" if ending is not None else "`checkpoint` with `use_reentrant=True` is given nothing that requires grad"
    made = fresh(
        run.autograd, call.node, "checkpoint", own=own, node=ending, shape=output.shape, dtype=output.dtype, cut=cut
    )
    made.contiguous = output.contiguous
    if id(output.storage) in shared:  # torch refuses to write into an input that is returned as it is
        made.storage.uses = output.storage.uses
    else:
        made.storage, made.counter = output.storage, output.counter
    return made


def _parameters(function: Value) -> list[Tensor]:
    held = function.receiver if isinstance(function, Bound) else function
    return parameters_of(held)[0] if isinstance(held, (Module, Instance)) else []


def _run_in_mode(run: Run, mode: Truth, function: Value, call: CallSite) -> Value:
    machine = run.machine
    outer, machine.grad_mode = machine.grad_mode, mode
    machine.contexts += 1
    result = run.invoke(function, call)
    machine.contexts -= 1
    machine.grad_mode = outer
    return result


def _again(run: Run, function: Value, call: CallSite) -> list[Tensor]:
    """A backward has come by: what the function gives this time, with a graph."""
    machine = run.machine
    statement = machine.statement
    inputs: list[Value] = [
        detached_alias(run.autograd, each, call.node, "detach()", own=each.requires_grad)
        if isinstance(each, Tensor)
        else each
        for each in call.positional
    ]
    result = _run_in_mode(run, Truth.YES, function, CallSite(call.node, inputs, {}))
    machine.statement = statement
    return [] if isinstance(result, Unknown) else reachable_tensors(result)
