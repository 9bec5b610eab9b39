"""
Whether a conversion or a reshape gives what it was given or a copy, and the key of that decision where it is open.

Makes no tensor.
"""

from __future__ import annotations

from torchlint.knowledge.ops.find import Op
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import External, Scalar, Tensor, Unknown, Value
from torchlint.model.torch.arguments import CASTS, as_argument, dtype_of, has_dtype, precise_dtype
from torchlint.model.torch.defaults import MOVES, SINGLE, asked_device, device_named
from torchlint.model.torch.layout import is_dense_by, may_be_whole
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import written

RESHAPES = frozenset({"reshape", "flatten", "view_as", "reshape_as", "ravel"})
_SHORT = 60
"""Characters of an expression that a message shows."""


def sharing(torch: Torch, op: Op, bound: dict[str, Value], source: Tensor, origin: ir.Node) -> object:
    """
    The key of the decision whether an operation gives what it was given or a copy: of a cast to the dtype of another
    tensor (`y.to(x.dtype)`) the condition under which it does nothing, of a reshape the kernel that decides it, if any,
    or that it is given all of a tensor, `w[:n, :m]`.
    """
    given = origin.arguments[0].value if isinstance(origin, ir.Call) and len(origin.arguments) == 1 else None
    asked, dtype = dotted(given), dtype_of(torch, source) if op.name in ("to", "type_as") else ""
    wanted = bound.get("device")  # which is what a dtype that nobody knows is taken for
    if asked and not dtype and torch.by_default and source.dtype in (None, "float"):  # what requires grad is no index
        own = _unknown_dtype(torch, op, bound, source, origin)
        if own:
            return f"{asked} == {own}" if op.name != "type_as" else f"{asked}.dtype == {own}", (id(origin),)
    asked = asked if dtype and dtype == torch.default_dtype else ""  # of another dtype few are
    if asked and isinstance(wanted, Scalar) and wanted.kind == "dtype":
        return f"{asked} == {dtype}", (id(origin),)
    if asked and "other" in bound and same_device(torch, op, source, bound) is Truth.YES:
        return f"{asked}.dtype == {dtype}", (id(origin),)
    moved = _device_decision(torch, op, bound, source, origin)
    if moved:
        return moved, (id(origin),)
    kernel = is_dense_by(source) if op.name in RESHAPES or op.name == "contiguous" else ""
    if op.name == "contiguous" and may_be_whole(source) and isinstance(origin, ir.Call):
        part = _written_receiver(origin)
        if part:
            return f"{part}.is_contiguous()", (id(origin),)
    return id(origin), "shares memory", kernel


def _unknown_dtype(torch: Torch, op: Op, bound: dict[str, Value], source: Tensor, origin: ir.Node) -> str:
    """How the program can write the dtype of what is cast, of which nothing else is known; "" where it is no cast."""
    if not isinstance(origin, ir.Call):
        return ""
    if op.name == "type_as":
        is_cast = "other" in bound and same_device(torch, op, source, bound) is Truth.YES
    else:
        wanted = bound.get("device", bound.get("dtype"))
        is_cast = op.name in ("to", "type") and isinstance(wanted, Scalar) and wanted.kind == "dtype"
    receiver = _written_receiver(origin) if is_cast else ""
    return f"{receiver}.dtype" if receiver else ""


def _device_decision(torch: Torch, op: Op, bound: dict[str, Value], source: Tensor, origin: ir.Node) -> str:
    """
    The condition under which a move does nothing, where the text leaves only the device open: `w.to(x.device)`. Where
    that is given with a dtype (`w.to(device=x.device, dtype=dtype)`) of a `forward` as its author had it in mind, all
    tensors are on one device, and the condition is of the dtype.
    """
    device = bound.get("device")
    if op.name != "to" or bound.keys() & {"copy", "memory_format"} or not isinstance(origin, ir.Call):
        return ""
    if not isinstance(device, (Scalar, Unknown)):
        return ""
    asked = _argument(origin, "device", 0)
    is_device = isinstance(device, Scalar) and device.kind == "device"
    if not asked or device_named(device) or not (is_device or "device" in asked.rpartition(".")[2]):
        return ""
    same = same_dtype(torch, op, source, bound)
    if same is Truth.YES:
        receiver = _written_receiver(origin)
        of_tensor = asked.endswith(".device") and asked != "self.device"  # elsewhere it may be a text, "cpu"
        return f"{receiver}.device == {asked if of_tensor else f'torch.device({asked})'}" if receiver else ""
    dtype, wanted = _argument(origin, "dtype", 1), dtype_of(torch, source)
    named = same is Truth.MAYBE and torch.by_default and dtype and wanted and wanted == torch.default_dtype
    return f"{dtype} == {wanted}" if named else ""


def _argument(call: ir.Call, name: str, position: int) -> str:
    """The dotted name that a call is given as an argument, "" if it is another expression."""
    for each in call.arguments:
        if each.star:
            return ""
        if each.keyword == name:
            return dotted(each.value)
    plain = [each for each in call.arguments if not each.keyword]
    return dotted(plain[position].value) if len(plain) > position else ""


def _written_receiver(call: ir.Call) -> str:
    """What stands before the name of a method, if that is short and on one line."""
    if not isinstance(call.function, ir.Attribute):
        return ""
    text = written(call.function.value.origin)
    return text if len(text) <= _SHORT and "\n" not in text else ""


def cast_to(torch: Torch, name: str, bound: dict[str, Value]) -> str:
    if CASTS[name]:
        return CASTS[name]
    dtype = as_argument(bound["dtype"]) if "dtype" in bound else None
    if isinstance(dtype, str):
        return precise_dtype(dtype)
    other = bound.get("other")
    return dtype_of(torch, other) if isinstance(other, Tensor) else ""


def same_dtype(torch: Torch, op: Op, source: Tensor, bound: dict[str, Value]) -> Truth:
    """Whether a cast finds that there is nothing to do."""
    if bound.get("other") is source or op.name in MOVES:
        return Truth.YES
    if op.name == "to" and not bound.keys() & {"dtype", "other"}:
        return Truth.YES
    return has_dtype(torch, source, cast_to(torch, op.name, bound))


def same_device(torch: Torch, op: Op, source: Tensor, bound: dict[str, Value]) -> Truth:
    """
    Whether a conversion finds that the tensor is where it is wanted. Where a `forward` runs as it does by default, all
    tensors are on one device of which nothing else is known.
    """
    if op.name in CASTS and not bound.keys() & {"device", "other"}:
        # `type("torch.FloatTensor")`, `type(torch.FloatTensor)` name a device as well, `type(torch.float32)` does not
        wanted = bound.get("dtype")
        of_numbers = isinstance(wanted, External) and wanted.qualified.rpartition(".")[2].islower()
        return Truth.YES if op.name != "type" or of_numbers else Truth.MAYBE
    if bound.get("other") is source:
        return Truth.YES
    other = bound.get("other")
    if torch.by_default and isinstance(other, Tensor) and not (other.device or source.device):
        return Truth.YES
    asked = asked_device(op.spelling.rpartition(".")[2], bound)
    if not asked or not source.device:
        return Truth.MAYBE
    # of several devices of one type nobody knows which one is meant
    return Truth.of(asked in SINGLE or None) if asked == source.device else Truth.NO
