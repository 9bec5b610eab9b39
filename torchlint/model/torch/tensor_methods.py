"""
Methods and attributes of tensors: `x.name(...)`, `x.name`.

A method with a meaning of its own for autograd has a function here (`TENSOR_METHODS`); the others are operations of
the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.edges import regenerate
from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.tensors import detached_alias, fresh, gradient_of, materialise, retain_gradient
from torchlint.model.autograd.writes import require_grad, use
from torchlint.model.events import Refusal, Shape
from torchlint.model.events.gradients import GradWrite
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    GRAD_NO,
    NONE,
    Constant,
    External,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    is_foreign,
    is_value_of_elsewhere,
    made_of,
    unknown_guard,
)
from torchlint.model.torch.arguments import (
    CASTS,
    as_argument,
    class_of,
    cst_of,
    dtype_of,
    has_dtype,
    precise_dtype,
    truth_of,
)
from torchlint.model.torch.creation import create
from torchlint.model.torch.gradients import backward_method, grad_written
from torchlint.model.torch.indexing import tensor_getitem, tensor_setitem
from torchlint.model.torch.layout import told_apart
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_CONVERSIONS = {
    "float": "float", "double": "float", "half": "float", "bfloat16": "float", "int": "int", "long": "int",
    "short": "int", "char": "int", "byte": "int", "bool": "bool", "cfloat": "complex", "cdouble": "complex",
}  # fmt: skip
_OPERATORS: Final = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
    "__rtruediv__": "__rdiv__", "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow",
    "__matmul__": "matmul", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs", "__invert__": "bitwise_not",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_",
}  # fmt: skip
"""What Python calls where an operator stands, and the operation that it is."""
_ITEM = "`.item()` returns a number"

Method: TypeAlias = "Callable[[Torch, Tensor, str, CallSite, ir.Expression], Value | None]"


def tensor_attribute(torch: Torch, tensor: Tensor, name: str, origin: ir.Node) -> Value | None:
    """`tensor.name`, if it is not a method."""
    if name == "grad":
        grad = gradient_of(torch.autograd, tensor)
        for _, each in alternatives(grad):
            if isinstance(each, Unknown):
                each.hint = ""
                materialise(torch.autograd, each).grad_of = tensor
        return grad
    if name == "data":
        data = detached_alias(torch.autograd, tensor, origin, ".data", own_counter=True)
        data.grad_of = tensor.grad_of
        data.name = tensor.name
        return data
    if name == "shape":
        return shape_value(torch, tensor)
    if name == "requires_grad":
        truth = tensor.requires_grad.truth()
        return Scalar("bool") if truth is Truth.MAYBE else Constant(truth is Truth.YES)
    if name == "is_leaf":
        return Scalar("bool") if tensor.is_leaf is Truth.MAYBE else Constant(tensor.is_leaf is Truth.YES)
    if name == "_base" and tensor.base is not None:
        base = tensor.base
        while base.base is not None:
            base = base.base
        return base
    if name == "ndim":
        return Constant(len(tensor.shape)) if tensor.shape is not None else Scalar("int")
    if name == "grad_fn":
        return Unknown()
    if name == "dtype" and torch.by_default and (dtype := dtype_of(torch, tensor)):
        return External(dtype)
    if name == "device":
        return Scalar("device", device=tensor.device)
    if name == "dtype":
        return External(tensor.precise) if tensor.precise else Scalar("dtype")
    if name in ("layout", "is_cuda", "is_sparse", "names", "itemsize"):
        return Scalar("other")
    if tensor.shape == () and (name == "mT" or (name in ("H", "mH") and tensor.dtype == "float")):
        return tensor  # with no dimension torch gives the tensor itself
    if name in ("mT", "H", "mH") and tensor.shape is None and not tensor.grad_fn:
        return Unknown([tensor], source=origin, certain_edge=True)  # a leaf, or a view of one
    if name in ("T", "mT", "H", "mH", "real", "imag"):
        return apply(torch, f"torch.Tensor.{name}", [tensor], {}, origin, name) or Unknown([tensor])
    return None


def shape_value(torch: Torch, tensor: Tensor) -> Value:
    """`tensor.shape`, `tensor.size()`: a tuple of sizes."""
    if tensor.shape is None:
        return Sequence("tuple", None, Scalar("int"))
    sizes = zip(tensor.shape, told_apart(torch, tensor), strict=True)
    return Sequence("tuple", tuple(Constant(n) if n is not None else Scalar("int", size=axis) for n, axis in sizes))


def tensor_method(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """`tensor.name(...)`."""
    if name in _OPERATORS and all(isinstance(each, (Tensor, Constant, Scalar)) for each in site.positional):
        name = _OPERATORS[name]  # of anything else it gives `NotImplemented`, and does nothing
    return TENSOR_METHODS.get(name, _operation)(torch, tensor, name, site, receiver)


def _operation(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """A method that is a factory (`new_zeros`) or an operation of the table."""
    qualified = f"torch.Tensor.{name}"
    given = [tensor, *site.sized()]
    if factories.find(qualified) is not None:
        return create(torch, qualified, site, given)
    return apply(
        torch,
        qualified,
        given,
        site.keywords,
        site.node,
        name,
        target=cst_of(receiver),
        name=dotted(receiver),
    )


def _require_grad(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    for hook in torch.machine.watch.required_grad:
        hook(tensor, site.get(0, "requires_grad"), name, site.node)
    require_grad(torch.autograd, tensor, truth_of(site.get(0, "requires_grad"), Truth.YES), name)
    return tensor


def _filled(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """`zero_()`, `fill_(value)`; of a gradient that is told."""
    if tensor.grad_of is not None:
        grad_written(torch, tensor, "zero_" if name == "zero_" else _fill(site), site.node, tensor.grad_of)
    return _operation(torch, tensor, name, site, receiver)


def _fill_diagonal(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """`fill_diagonal_(value)`: a view of the diagonal, filled (aten/src/ATen/native/Fill.cpp)."""
    value = site.get(0, "fill_value")
    diagonal = apply(torch, "torch.Tensor.diagonal", [tensor], {}, site.node, name)
    if value is None or not isinstance(diagonal, Tensor):
        return None
    apply(
        torch,
        "torch.Tensor.fill_",
        [diagonal, value],
        {},
        site.node,
        name,
        target=cst_of(receiver),
        name=dotted(receiver),
    )
    return tensor


def _as(spelling: str) -> Method:
    """A method that is another one of the table, by what the program calls it."""

    def method(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
        given = [tensor, *site.positional]
        where, called = cst_of(receiver), dotted(receiver)
        return apply(torch, spelling, given, site.keywords, site.node, name, target=where, name=called)

    return method


def _retain_grad(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    _refuse_without_grad(torch, "retain-grad", tensor, name, site, receiver)
    if tensor.grad_fn and not tensor.retains_grad:
        regenerate(torch.autograd, tensor)  # it asks for the grad_fn; of a leaf, or a second time, it does not
    retain_gradient(torch.autograd, tensor)
    return NONE


def _register_hook(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    _refuse_without_grad(torch, "hook", tensor, name, site, receiver)
    regenerate(torch.autograd, tensor)  # it asks for the grad_fn
    torch.machine.trail.set(tensor, "hooked", True)
    return Unknown()


def _register_accumulated_hook(
    torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression
) -> Value:
    """`register_post_accumulate_grad_hook`: only on what a gradient is accumulated in."""
    _refuse_without_grad(torch, "hook", tensor, name, site, receiver)
    inner = tensor.requires_grad.truth() & ~tensor.is_leaf
    refuse(torch.autograd, "accumulated-hook", name, tensor, site.node, inner, cst_of(receiver), dotted(receiver))
    return Unknown()


def _refuse_without_grad(
    torch: Torch, kind: Refusal, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression
) -> None:
    lacks = ~tensor.requires_grad.truth()
    refuse(torch.autograd, kind, name, tensor, site.node, lacks, cst_of(receiver), dotted(receiver))


def _getitem(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """`x.__getitem__(index)`."""
    return tensor_getitem(torch, tensor, site.positional[0], site.node) if len(site.positional) == 1 else None


def _setitem(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """`x.__setitem__(index, value)`."""
    if len(site.positional) != 2:
        return None
    index, value = site.positional
    tensor_setitem(torch, tensor, index, value, site.node, cst_of(receiver), dotted(receiver))
    return NONE


def _nothing(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    """A method that does nothing to what the model knows."""
    return Unknown()


def _python_value(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    """`item()`, `tolist()`."""
    use(torch.autograd, tensor, site.node)
    return _numbers(tensor.shape, tensor.dtype) if name == "tolist" else Scalar("number", _ITEM)


def _view(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
    """`view(shape)`, an operation; `view(dtype)`, the same memory read otherwise."""
    if class_of(_dtype_argument(site)):
        return _reinterpreted(torch, tensor, _dtype_argument(site), site)
    return _operation(torch, tensor, name, site, receiver)


def _numbers(shape: Shape, dtype: str | None) -> Value:
    """`tolist()`: lists of numbers, nested as the tensor's dimensions are."""
    if shape is None:
        return Unknown()
    if not shape:
        return Scalar(dtype if dtype in ("float", "int", "bool") else "number", _ITEM)
    size, inner = shape[0], _numbers(shape[1:], dtype)
    return Sequence("list", (inner,) * size) if size is not None and size <= 64 else Sequence("list", None, inner)


def _fill(site: CallSite) -> GradWrite:
    value = site.get(0, "value")
    return "fill" if isinstance(value, Constant) and value.value == 0 else "assign"


def _cutting_method(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    machine, autograd = torch.machine, torch.autograd
    node = site.node
    use(autograd, tensor, node)
    if name == "detach_":
        base = tensor.base
        viewed = Truth.of(base is not None)
        unknown = base is not None and (base.shape is None or tensor.shape is None)
        if unknown and any(node.op == "flatten" for _, node in tensor.grad_fn):
            viewed = Truth.MAYBE  # of one dimension it is no view, but the tensor itself
        refuse(autograd, "detach-view", name, tensor, node, viewed, cst_of(receiver), dotted(receiver))
        machine.trail.set(tensor, "own", GRAD_NO)
        machine.trail.set(tensor, "grad_fn", ())
        machine.trail.set(tensor, "cut", "`detach_()` cuts it from the graph")
        return tensor
    if name == "detach":
        detached = detached_alias(autograd, tensor, node, "detach()")
        detached.grad_of = tensor.grad_of
        return detached
    forced = truth_of(site.get(0, "force"), Truth.NO) if name == "numpy" else Truth.NO
    refused = tensor.requires_grad.truth() & machine.grad_mode & ~forced
    refuse(autograd, "numpy", f"{name}()", tensor, node, refused, cst_of(receiver), dotted(receiver))
    alias = detached_alias(autograd, tensor, node, "numpy()", own_counter=True)
    return Unknown([alias], source=node)


def copied(torch: Torch, tensor: Tensor, site: CallSite) -> Tensor:
    """`copy.deepcopy(tensor)`."""
    autograd = torch.autograd
    regenerate(autograd, tensor)
    refuse(autograd, "deepcopy", "deepcopy", tensor, site.node, ~tensor.is_leaf)
    copy = fresh(autograd, site.node, "deepcopy", own=tensor.requires_grad, shape=tensor.shape, dtype=tensor.dtype)
    copy.is_parameter = tensor.is_parameter
    return copy


def _size_method(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    if name == "size" and not site.positional and not site.keywords:
        return shape_value(torch, tensor)
    if name in ("dim", "ndimension"):
        return Constant(len(tensor.shape)) if tensor.shape is not None else Scalar("int")
    if name in ("numel", "nelement"):
        count = shapes.numel(tensor.shape)
        return Constant(count) if count is not None else Scalar("int")
    if name == "__len__" and tensor.shape:
        return Constant(tensor.shape[0]) if tensor.shape[0] is not None else Scalar("int")
    dim = site.get(0, "dim")
    place = dim.value if name == "size" and isinstance(dim, Constant) else None
    if isinstance(place, int) and tensor.shape is not None and -len(tensor.shape) <= place < len(tensor.shape):
        size = tensor.shape[place]
        return Constant(size) if size is not None else Scalar("int", size=told_apart(torch, tensor)[place])
    return Scalar("bool" if name.startswith("is_") else "int")


def _convert(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    """`tensor.long()`, `tensor.half()`: the tensor itself if it has that dtype, else a copy."""
    dtype = _CONVERSIONS[name]
    same = has_dtype(torch, tensor, CASTS[name])
    if same is Truth.YES:
        return tensor
    known = tensor.dtype or class_of(tensor.precise)
    if dtype in ("int", "bool") or known in ("int", "bool"):
        cut = tensor.cut if known in ("int", "bool") else f"`{name}()` is not differentiable"
        told = factories.dtype_class(CASTS[name])  # not of bytes: as an index they are a mask
        copy = fresh(torch.autograd, site.node, name, shape=tensor.shape, dtype=told, cut=cut, precise=CASTS[name])
        _derived(copy, tensor, name)
        return copy if same is Truth.NO else _or_itself(torch, tensor, copy, site)
    result = apply(torch, f"torch.Tensor.{name}", [tensor, *site.positional], site.keywords, site.node, name)
    if same is Truth.MAYBE and isinstance(result, Tensor) and result is not tensor:
        return _or_itself(torch, tensor, result, site)
    return result or Unknown([tensor])


def _dtype_argument(site: CallSite) -> str:
    given = site.get(0, "dtype")
    dtype = as_argument(given) if isinstance(given, External) else None
    return precise_dtype(dtype) if isinstance(dtype, str) else ""


def _reinterpreted(torch: Torch, tensor: Tensor, dtype: str, site: CallSite) -> Tensor:
    """`tensor.view(torch.int32)`: the same memory, and no derivative."""
    result = detached_alias(torch.autograd, tensor, site.node, "view(dtype)")
    result.dtype, result.precise = factories.dtype_class(dtype), dtype
    if has_dtype(torch, tensor, dtype) is not Truth.YES:
        result.shape, result.strides = None, None
    return result


def _or_itself(torch: Torch, tensor: Tensor, copy: Tensor, site: CallSite) -> Value:
    number = torch.machine.branch((id(site.node), "shares memory"))
    return choose([(frozenset({(number, 1)}), tensor), (frozenset({(number, 0)}), copy)])


def _derived(copy: Tensor, tensor: Tensor, name: str) -> None:
    copy.op, copy.inputs = f"torch.Tensor.{name}", (tensor,)


def _move(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    site = _with_device(tensor, name, site)
    for value in site.values():
        dtype = as_argument(value)
        precise = precise_dtype(dtype) if isinstance(dtype, str) else ""
        kind = class_of(precise)
        if isinstance(value, Tensor):
            kind, precise = value.dtype or class_of(value.precise), value.precise
        same = has_dtype(torch, tensor, precise) if kind in ("int", "bool") else Truth.MAYBE
        if same is Truth.YES and len(site.values()) == 1:
            return tensor  # a move beside it, or `copy`, may make another
        if kind in ("int", "bool"):
            cut = f"`{name}({kind})` is not differentiable"
            known = factories.dtype_class(precise) if precise else kind
            copy = fresh(torch.autograd, site.node, name, shape=tensor.shape, dtype=known, cut=cut, precise=precise)
            _derived(copy, tensor, name)
            itself = same is not Truth.NO and "copy" not in site.keywords
            itself = itself and tensor.dtype in (None, kind) and tensor.requires_grad.truth() is not Truth.YES
            return _or_itself(torch, tensor, copy, site) if itself else copy
    moved = apply(torch, f"torch.Tensor.{name}", [tensor, *site.positional], site.keywords, site.node, name) or made_of(
        [tensor], source=site.node
    )
    if tensor.requires_grad.truth() is Truth.NO or not any(_may_be_dtype(each) for each in site.values()):
        return moved
    cut = f"`{name}(...)` may make integers of it"
    copy = fresh(torch.autograd, site.node, name, shape=tensor.shape, dtype=None, cut=cut)
    return choose([(unknown_guard(), moved), (unknown_guard(), copy)])


def _may_be_dtype(value: Value) -> bool:
    """Whether nobody knows that a value is no dtype."""
    if isinstance(value, External):
        return is_value_of_elsewhere(value)
    return isinstance(value, Unknown) and value.tensor is None and not is_foreign(value)


def _with_device(tensor: Tensor, name: str, site: CallSite) -> CallSite:
    """
    `loss.to(device)`: what nobody knows is held for a device where the program calls it so. Only of what is in a graph,
    which goes on through the move, it makes a difference.
    """
    if name != "to" or tensor.requires_grad.truth() is Truth.NO:
        return site
    given = site.keywords.get("device")
    if isinstance(given, Unknown) and given.tensor is None:
        return CallSite(site.node, site.positional, {**site.keywords, "device": Scalar("device")})
    written = site.argument(0, "")
    if written is None or not site.positional or "device" not in dotted(written.value).rpartition(".")[2]:
        return site
    if not isinstance(site.positional[0], Unknown) or site.positional[0].tensor is not None:
        return site
    return CallSite(site.node, [Scalar("device"), *site.positional[1:]], site.keywords)


TENSOR_METHODS: Final[dict[str, Method]] = {
    "backward": backward_method,
    **dict.fromkeys(("detach", "detach_", "numpy", "__array__"), _cutting_method),
    "requires_grad_": _require_grad,
    "retain_grad": _retain_grad,
    "register_hook": _register_hook,
    "register_post_accumulate_grad_hook": _register_accumulated_hook,
    "share_memory_": _nothing,
    **dict.fromkeys(("zero_", "fill_"), _filled),
    "fill_diagonal_": _fill_diagonal,
    # in place it is `pow_` of what is double already (aten/src/ATen/native/Pow.cpp)
    "float_power_": _as("torch.Tensor.pow_"),
    "clip_": _as("torch.Tensor.clamp_"),
    **dict.fromkeys(("item", "tolist"), _python_value),
    **dict.fromkeys(
        (
            *("size", "dim", "numel", "nelement", "ndimension", "element_size", "stride", "storage_offset"),
            *("get_device", "is_contiguous", "is_floating_point", "is_complex", "data_ptr", "__len__"),
        ),
        _size_method,
    ),
    **dict.fromkeys(_CONVERSIONS, _convert),
    **dict.fromkeys(("to", "type", "cpu", "cuda", "type_as"), _move),
    "view": _view,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
}
"""The methods that are not, or not always, plain operations of the table."""
