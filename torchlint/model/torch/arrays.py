"""
Arrays of NumPy that share a tensor's memory: made of it, and written in place.

An array is a value that nobody knows, made by a call of `numpy()`; what is computed from it has memory of its own.
"""

from __future__ import annotations

from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.writes import write
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import Sequence, Tensor, Unknown, Value
from torchlint.model.torch.arguments import cst_of, known_tensors
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_ARRAYS = frozenset({"numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"})


def numpy_call(torch: Torch, qualified: str, site: CallSite) -> None:
    """A function of NumPy that makes an array of its argument, as `Tensor.numpy()` does, or writes to one."""
    machine = torch.machine
    given = site.arguments.get("out")
    if given is not None and "out" in site.keywords:
        op = f"{qualified.replace('numpy.', 'np.')}(out=...)"
        write_array(torch, site.keywords["out"], site.node, given.value, op)
    if qualified not in _ARRAYS or not site.positional or 0 not in site.arguments:
        return
    written = site.arguments[0].value
    display = qualified.replace("numpy.", "np.")
    assumed = machine.assumed
    for guard, tensor in known_tensors(site.positional[0]):
        machine.assumed = assumed | guard
        refused = tensor.requires_grad.truth() & machine.grad_mode
        refuse(torch.autograd, "numpy", display, tensor, site.node, refused, cst_of(written), dotted(written))
    machine.assumed = assumed
    value = site.positional[0]
    if isinstance(value, Sequence) and value.kind in ("list", "tuple") and machine.grad_mode is Truth.YES:
        for each in value.items or ():
            if isinstance(each, Tensor) and each.requires_grad.truth() is Truth.YES:  # it is asked for its `__array__`
                refuse(torch.autograd, "numpy", display, each, site.node, Truth.YES, cst_of(written), dotted(written))
                break


def write_array(torch: Torch, array: Value, origin: ir.Node, written: ir.Expression, op: str) -> bool:
    """
    An array that `numpy()` gave is written in place: the tensor's memory is, and no version counts it. Whether it was
    such an array.
    """
    found = False
    if not isinstance(array, Unknown):
        return found
    for tensor in array.depends:
        if tensor.made_by == "numpy()" and tensor.origin is array.source and tensor.alias is not None:
            write(torch.autograd, tensor, origin, cst_of(written), op, "augmented", name=dotted(written))
            found = True
    return found
