"""
Devices by their names, and what the program sets as default: dtype and device of new tensors.

Knows the type of a device ("cpu", "cuda") and never its index: of two devices of one type nobody knows whether they
are the same, but there is one CPU. (`x.to("cpu:0")` of a tensor on "cpu" is a copy all the same.)

References
----------
https://docs.pytorch.org/docs/stable/tensor_attributes.html; `torch/__init__.py`: `set_default_device`,
`set_default_tensor_type`.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.state.call_site import CallSite
from torchlint.model.state.values import NONE, Constant, External, Scalar, Tensor, Unknown, Value, alternatives
from torchlint.model.torch.arguments import as_argument, class_of, precise_dtype
from torchlint.model.torch.torch import Torch

MOVES: Final = frozenset({"cpu", "cuda", "xpu", "ipu"})
"""Methods that move a tensor to the device of their name."""

SINGLE = frozenset({"cpu", "meta"})
"""Types of devices of which there is one."""

DEFAULTS_SET_BY = {
    "set_default_dtype": ("default_dtype",),
    "set_default_tensor_type": ("default_dtype", "default_device"),
    "set_default_device": ("default_device",),
}
"""What of a `Torch` each function of torch sets."""

_TYPES = {
    "FloatTensor": "torch.float32", "DoubleTensor": "torch.float64", "HalfTensor": "torch.float16",
    "BFloat16Tensor": "torch.bfloat16",
}  # fmt: skip


def device_named(value: Value | None) -> str:
    """The type of the device that an argument names, "" if it is not known."""
    names = {_named(each) for _, each in alternatives(value)} if value is not None else set()
    return names.pop() if len(names) == 1 else ""


def asked_device(name: str, bound: dict[str, Value]) -> str:
    """The type of the device that a move asks for, "" if it is not known: `x.cpu()`, `x.to(device)`, `x.to(other)`."""
    if name in MOVES:
        return name
    other = bound.get("other")
    return other.device if isinstance(other, Tensor) else device_named(bound.get("device"))


def is_device(value: Value) -> bool:
    """Whether a value is certainly a device, or the name of one."""
    return all(
        (isinstance(each, Scalar) and each.kind == "device")
        or (isinstance(each, Constant) and isinstance(each.value, str))
        for _, each in alternatives(value)
    )


def new_device(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.device(...)`: of a number it is the accelerator of that index."""
    name = device_named(site.get(0, "type") or site.get(0, "device"))
    return Scalar("device", device="" if name in SINGLE and site.get(1, "index") is not None else name)


def set_default_dtype(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.set_default_dtype(...)`."""
    given = site.get(0, "d")
    dtype = as_argument(given) if given is not None else None
    _set(torch, "default_dtype", precise_dtype(dtype) if isinstance(dtype, str) and class_of(dtype) else "")
    return NONE


def given_to_unknown(torch: Torch, arguments: list[Value], *, of_torch: bool, effect: bool) -> None:
    """
    Unknown code that is given a dtype may set it as the default, if it is one of floating point (torch refuses all
    others); so may what is called for its `effect` a device. What is taken `of_torch` by a name that nobody knows may
    set any default by what it is given: `getattr(torch, name)("meta")`.
    """
    for _, each in [option for value in arguments for option in alternatives(value)]:
        if not (of_torch or effect or isinstance(each, External)):
            continue
        dtype = as_argument(each) if isinstance(each, External) else None
        kind = class_of(dtype) if isinstance(dtype, str) else None
        elsewhere = isinstance(each, External) and not kind
        may_be_any = of_torch and (elsewhere or (isinstance(each, Unknown) and each.tensor is None))
        if may_be_any or kind == "float":
            unsettle_default(torch, "default_dtype")
        if may_be_any or (of_torch and (each == NONE or is_device(each))) or (effect and _names_device(each)):
            unsettle_default(torch, "default_device")


def set_default_type(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.set_default_tensor_type(...)`: dtype and device in one, as a class or its name."""
    given = site.get(0, "t")
    name = given.qualified if isinstance(given, External) else given.value if isinstance(given, Constant) else ""
    place, _, kind = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    _set(torch, "default_dtype", _TYPES.get(kind, ""))
    _set(torch, "default_device", "cpu" if place == "torch" and kind in _TYPES else "")
    return NONE


def set_default_device(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.set_default_device(...)`; None is the CPU again."""
    given = site.get(0, "device")
    _set(torch, "default_device", "cpu" if given == NONE else device_named(given))
    return NONE


def unsettle_default(torch: Torch, what: str) -> None:
    """The default dtype, or device, may be another one; also where nobody knows it, in a context that sets it back."""
    if getattr(torch, what) or what == "default_device":
        _set(torch, what, "")


def device_context(torch: Torch, value: Value, known: bool) -> str:
    """
    The default device inside a context manager: a `torch.device` is one, and what is unknown (not `known`) may hold
    one, as `accelerate.init_empty_weights()` does.
    """
    if isinstance(value, Scalar) and value.kind == "device":
        return value.device
    return torch.default_device if known else ""


def _named(value: Value) -> str:
    if isinstance(value, Scalar):
        return value.device
    if not isinstance(value, Constant) or not isinstance(value.value, str):
        return ""
    name, _, index = value.value.partition(":")
    return "" if index and name in SINGLE else name


def _names_device(value: Value) -> bool:
    return _named(value).partition(":")[0] in _DEVICES


_DEVICES = MOVES | {"meta", "mps", "hpu", "xla"}


def _set(torch: Torch, what: str, value: str) -> None:
    machine = torch.machine
    # what the script has called before, it has called with the other one
    if machine.stack or (machine.callers.called and getattr(torch, what) != value):
        torch.unsettled |= {what}
    machine.trail.set(torch, what, value)
    if what == "default_device":
        machine.trail.set(torch, "device_set", machine.tick())
