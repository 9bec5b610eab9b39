"""
Tensors that are made: factories, parameters, `Variable`, copies of arrays.

What a factory makes is the word of `torchlint.knowledge.factories`.
"""

from __future__ import annotations

from torchlint.knowledge.factories import find as factories
from torchlint.model.autograd.record import value_grad
from torchlint.model.autograd.tensors import detached_alias, fresh, tensor_options
from torchlint.model.autograd.writes import escape, is_none, use, write
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    FROM_DATA,
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    Constant,
    Grad,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
    fits,
    made_of,
    may_be_tensor,
    parts,
    reachable_tensors,
    sure_tensors,
)
from torchlint.model.torch.arguments import INTEGER, as_argument, precise_dtype, truth_of
from torchlint.model.torch.defaults import device_named
from torchlint.model.torch.torch import Torch
from torchlint.syntax import cst

_SIZED = frozenset(f"torch.{name}" for name in ("empty", "ones", "rand", "randn", "zeros"))


def create(torch: Torch, qualified: str, site: CallSite, positional: list[Value]) -> Value:
    """A call of a factory."""
    autograd = torch.autograd
    factory = factories.find(qualified)
    assert factory is not None
    display = qualified.rpartition(".")[2]
    if len(positional) > 1 and qualified in _SIZED:
        for value in positional:
            if isinstance(value, Unknown) and value.tensor is None:
                torch.machine.trail.set(value, "made_by", INTEGER)  # one of several sizes is no sequence of them
    if not site.complete and (display == "new" or display.endswith("Tensor")):
        tensors = [tensor for value in site.values() for tensor in reachable_tensors(value)]
        if any(tensor.requires_grad != GRAD_NO for tensor in tensors):
            return Unknown(tensors, source=site.node)  # a tensor alone is what it gives, of more it takes the numbers
    created = factory.create(
        [as_argument(value) for value in positional],
        {key: as_argument(value) for key, value in site.keywords.items()},
    )
    for value in site.values():
        for tensor in sure_tensors(value):
            use(autograd, tensor, site.node)
    if display == "normal" and any(value_grad(autograd, value) != GRAD_NO for value in positional):
        return made_of(positional, source=site.node)  # differentiated with respect to the mean, and to nothing else
    if created.returns_out and "out" in site.keywords:
        return _filled(torch, site.keywords["out"], display, site)
    shared = created.shares_memory_with
    if shared is not None:
        given = site.keywords.get(factory.parameters[shared]) if shared < len(factory.parameters) else None
        source = positional[shared] if shared < len(positional) else given
        if source is not None:
            return _shared(torch, source, created, display, site)
    own = GRAD_NO if created.requires_grad is False else GRAD_YES if created.requires_grad else GRAD_MAYBE
    dtype = created.dtype
    if _may_name_more(site):
        own = GRAD_MAYBE  # `requires_grad` is given by its name
        dtype = dtype if "dtype" in site.keywords or display in _OF_CHANCE else None
    cut = FROM_DATA
    if display in ("tensor", "new_tensor") and any(
        tensor.requires_grad != GRAD_NO for value in positional for tensor in reachable_tensors(value)
    ):
        cut = f"`{display}(...)` copies the values and leaves the graph"
    tensor = fresh(
        autograd, site.node, display, own=own, shape=created.shape, dtype=dtype, contiguous=Truth.YES, cut=cut
    )
    if tensor.dtype == "int" and positional and not (kinds := _number_kinds(positional[0])) <= {"int", "bool"}:
        tensor.dtype = "float" if kinds == {"float"} else None
    if tensor.dtype == "bool" and display == "tensor" and positional:
        tensor.trues = _trues(positional[0])
    tensor.precise = _precise_of_created(torch, tensor.dtype, display, positional, site)
    tensor.device = _device_of_created(torch, qualified, display, positional, site)
    if tensor.dtype is None and display.removeprefix("new_").removesuffix("_like") in _FLOATING:
        open_dtype = "dtype" in site.keywords or display.endswith("_like") or _may_name_more(site)
        tensor.dtype = None if open_dtype else "float"
    return tensor


def _may_name_more(site: CallSite) -> bool:
    """Whether a call, or the `partial` that it calls, has `**options` of which nobody knows what they name."""
    stars = [argument.star for argument in site.node.arguments if argument.star]
    return not site.complete and (not stars or "**" in stars)


def _filled(torch: Torch, out: Value, display: str, site: CallSite) -> Value:
    """
    What a factory fills (`out=`). Torch refuses to record that of a leaf, and what is no leaf gets a node that raises
    in backward; with grad mode off the leaf requires no grad any more. So nobody knows what it is afterwards.
    """
    autograd, machine = torch.autograd, torch.machine
    tensors = reachable_tensors(out)
    assert isinstance(site.node.origin, cst.BaseExpression)
    for guard, tensor in tensor_options(autograd, out):
        assumed = machine.assumed
        machine.assumed = assumed | guard
        write(autograd, tensor, site.node, site.node.origin, f"{display}(out=...)", "out")
        machine.assumed = assumed
        if tensor.own != GRAD_NO and machine.grad_mode is not Truth.YES:
            machine.trail.set(tensor, "own", GRAD_MAYBE)
    escape(autograd, tensors, site.node)
    if all(tensor.requires_grad == GRAD_NO for tensor in tensors):
        return out
    return Unknown(tensors, source=site.node)


def _precise_of_created(torch: Torch, dtype: str | None, display: str, positional: list[Value], site: CallSite) -> str:
    given = site.keywords.get("dtype")
    if given is not None and is_none(given) is not Truth.YES:
        named = as_argument(given)
        return precise_dtype(named) if isinstance(named, str) else ""
    if display.startswith("new_") or display.endswith("_like"):
        return positional[0].precise if positional and isinstance(positional[0], Tensor) else ""
    return torch.default_dtype if dtype == "float" or (dtype is None and display in _FLOATING) else ""


def _device_of_created(torch: Torch, qualified: str, display: str, positional: list[Value], site: CallSite) -> str:
    given = site.keywords.get("device")
    if given is not None and is_none(given) is not Truth.YES:
        return device_named(given)
    if not site.complete or qualified.startswith("torch.cuda."):
        return ""
    if display.startswith("new_") or display.endswith("_like") or qualified == "torch.Tensor.new":
        return positional[0].device if positional and isinstance(positional[0], Tensor) else ""
    copies = display in ("tensor", "as_tensor", "asarray", "scalar_tensor")
    if copies and any(may_be_tensor(each) for value in positional for each in explore(value, parts)):
        return ""  # `torch.tensor(t)` is where `t` is
    return torch.default_device


def _shared(torch: Torch, source: Value, created: factories.Created, display: str, site: CallSite) -> Value:
    autograd = torch.autograd
    recorded = created.graph == "kept"
    more = _may_name_more(site)
    detaches = "requires_grad" in site.keywords or (more and display == "asarray")
    if recorded and detaches and may_be_tensor(source):
        return Unknown(reachable_tensors(source), source=site.node)  # without grad `asarray` detaches
    if recorded and isinstance(source, Tensor):
        itself = created.certain and created.returns_argument is not None and not more
        return source if itself else Unknown([source], source=site.node, certain_edge=True)
    if isinstance(source, Tensor):
        return detached_alias(autograd, source, site.node, f"{display}()", own_counter=True)
    if isinstance(source, Unknown):
        aliases = [tensor for tensor in source.depends if tensor.made_by == "numpy()"]
        if aliases:
            return detached_alias(autograd, aliases[0], site.node, f"torch.{display}()", own_counter=True)
    if recorded and may_be_tensor(source):
        return Unknown(reachable_tensors(source), source=site.node)
    return fresh(autograd, site.node, display, cut=FROM_DATA)


def new_parameter(torch: Torch, qualified: str, site: CallSite) -> Tensor:
    """`nn.Parameter(data)`."""
    own = {Truth.YES: GRAD_YES, Truth.NO: GRAD_NO, Truth.MAYBE: GRAD_MAYBE}[
        truth_of(site.get(1, "requires_grad"), Truth.YES if site.complete else Truth.MAYBE)
    ]
    data = site.get(0, "data")
    options = [each for _, each in alternatives(data, torch.machine.guard)] if data is not None else []
    source = options[0] if len(options) == 1 and isinstance(options[0], Tensor) else None
    known = data is None or own == GRAD_YES  # integers are taken only where it requires no grad
    tensor = fresh(
        torch.autograd,
        site.node,
        "Parameter",
        own=own,
        shape=source.shape if source else None,
        dtype=source.dtype if source and (source.dtype or not known) else "float" if known else None,
        contiguous=source.contiguous if source else Truth.MAYBE,
        cut="it is a Parameter with `requires_grad=False`",
        precise=source.precise if source else "",
    )
    tensor.is_parameter = Truth.YES
    if source is not None:
        tensor.storage = source.storage
        tensor.strides = source.strides
        tensor.counter = source.counter  # it is made by `detach()`
        if not torch.machine.stack:  # one that a function makes may become part of a Module, and go where that goes
            tensor.device = source.device
    return tensor


def new_variable(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.autograd.Variable(data)`."""
    autograd = torch.autograd
    data = site.get(0, "data")
    if data is None:
        return Unknown()
    wanted = truth_of(site.get(1, "requires_grad"), Truth.NO if site.complete else Truth.MAYBE)
    for guard, tensor in tensor_options(autograd, data):
        own: Grad = GRAD_YES if wanted is Truth.YES else GRAD_NO if wanted is Truth.NO else GRAD_MAYBE
        if len(tensor_options(autograd, data)) == 1 and not guard:
            return detached_alias(autograd, tensor, site.node, "Variable()", own=own)
    return Unknown(reachable_tensors(data))


_OF_CHANCE = frozenset({"normal", "rand", "rand_like", "randn", "randn_like"})
"""What gives floating-point numbers, whatever dtype it is asked for."""
_FLOATING = frozenset({"rand", "randn", "linspace", "logspace", "eye", "zeros", "ones", "empty"})


def _number_kinds(value: Value) -> set[str]:
    """The kinds of the numbers of unknown value in nested lists, of which shapes know only that they are numbers."""
    return {each.kind for each in explore(value, parts) if isinstance(each, Scalar)}


def _trues(value: Value) -> int | None:
    """How many of the constants in nested lists are true, None if others than constants are in them."""
    if isinstance(value, Constant):
        return int(bool(value.value))
    if not isinstance(value, Sequence) or value.items is None:
        return None
    counts = [_trues(each) for each in value.items] if fits(value) else [None]
    return None if None in counts else sum(count for count in counts if count is not None)
