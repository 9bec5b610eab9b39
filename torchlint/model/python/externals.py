"""
Calls of what is imported: builtins, torch, NumPy, other files of the project, other packages.

What none of them knows is unknown code.
"""

from __future__ import annotations

from torchlint.knowledge import foreign
from torchlint.model.autograd.writes import use
from torchlint.model.python.builtins import call_builtin, chain, copied_value, new_partial
from torchlint.model.python.members import set_raw
from torchlint.model.python.modules import inherit
from torchlint.model.python.run import Run
from torchlint.model.python.unknown_code import unknown_call
from torchlint.model.python.variables import resolved
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.values import (
    NONE,
    Constant,
    External,
    Instance,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.model.torch.arguments import kind_of
from torchlint.model.torch.functions import numpy_call, torch_call


def _parametrised(run: Run, qualified: str, site: CallSite) -> Value:
    """A parameter of a Module is computed from now on, from others and by nobody knows what."""
    module = site.get(0, "module") or Unknown()
    name = site.get(1, "tensor_name") or site.get(1, "name") or site.get(1, "parameter_name") or Constant("weight")
    for _, each in alternatives(module):
        if isinstance(each, (Module, Instance)):
            held = each.parameters if isinstance(each, Module) else each.attributes
            named = isinstance(name, Constant) and isinstance(name.value, str)
            for key in [name.value] if named and isinstance(name, Constant) else list(held):
                if isinstance(key, str) and isinstance(held.get(key), Tensor):
                    run.machine.trail.set(held, key, Unknown(reachable_tensors(held[key])))
    return module


def _zeroed_together(run: Run, site: CallSite) -> Value:
    """`torch._foreach_zero_(gradients)`."""
    machine = run.machine
    for value in site.values():
        for tensor in reachable_tensors(value):
            owner = tensor.grad_of
            if owner is not None:
                machine.trail.set(owner, "grad_reset", machine.tick())
                for hook in machine.watch.zeroed:
                    hook(owner, site.node)
        known = isinstance(value, Sequence) and value.items is not None
        for hook in machine.watch.zeroed if not known else ():
            hook(Unknown(), site.node)
    return NONE


def call_external(run: Run, qualified: str, site: CallSite) -> Value:
    """A call of what is imported, by its qualified name."""
    result = _run_external(run, qualified, site)
    for hook in run.machine.watch.called:
        hook(qualified, site.positional, site.keywords, result, site.node)
    return result


def _number(run: Run, qualified: str, site: CallSite) -> Value | None:
    """The number that a function outside torch computes; or what holds the limits of a dtype."""
    if qualified in ("torch.finfo", "torch.iinfo"):
        return External(qualified)  # its attributes are the limits
    kind = foreign.result(qualified)
    if kind is None and foreign.result_for_numbers(qualified) and site.complete:
        kinds = {kind_of(value) for value in site.values()}
        kind = "number" if kinds <= {"int", "float", "number", "bool"} else None
    if kind is None or (run.imports is not None and run.imports.offers(qualified)):
        return None
    for value in site.values():
        for tensor in reachable_tensors(value):
            use(run.autograd, tensor, site.node)
    return Scalar(kind)


def _run_external(run: Run, qualified: str, site: CallSite) -> Value:
    if qualified.startswith("builtins."):
        result = call_builtin(run, qualified[9:], site)
        return result if result is not None else unknown_call(run, External(qualified), site)
    if qualified.startswith("torch."):
        result = torch_call(run.torch, qualified, site)
        if result is not None:
            return result
        if qualified == "torch._foreach_zero_":
            return _zeroed_together(run, site)
        if foreign.replaces_parameters(qualified):
            return _parametrised(run, qualified, site)
        if qualified.startswith(("torch.nn.utils.", "torch.cuda.", "torch.distributed.", "torch.backends.")):
            return Unknown([t for value in site.values() for t in reachable_tensors(value)])
    if qualified.startswith("numpy."):
        numpy_call(run.torch, qualified, site)
    first = site.positional[0] if site.positional else None
    if qualified.endswith(".__setattr__") and isinstance(first, Instance):
        return set_raw(run, site)
    if qualified.endswith(".__init__") and isinstance(first, Instance):
        inherit(run, first, CallSite(site.node, site.positional[1:], site.keywords, complete=site.complete))
    found = resolved(run, External(qualified))
    if found != External(qualified):
        return run.invoke(found, site)
    if (number := _number(run, qualified, site)) is not None:
        return number
    if qualified == "itertools.chain" and (chained := chain(run, site)) is not None:
        return chained
    if qualified == "functools.partial" and site.positional:
        return new_partial(site)
    if qualified in ("copy.deepcopy", "copy.copy") and site.positional:
        return copied_value(run, qualified, site)
    last = qualified.rpartition(".")[2]
    result = unknown_call(run, External(qualified), site)
    if isinstance(result, Unknown):
        result.layer = last[:1].isupper()
    return result
