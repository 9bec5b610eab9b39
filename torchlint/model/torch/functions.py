"""
Functions and classes of torch by their qualified names: `torch.name(...)`.

A name with a meaning of its own for autograd has a function here (`TORCH_FUNCTIONS`); then come layers, optimizers,
factories, and the operations of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from torchlint.knowledge import names
from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.modules import optimizers
from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.ops.find import takes_no_number
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.tensors import fresh, tensor_options
from torchlint.model.autograd.writes import write
from torchlint.model.events import Shape
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import NONE, Constant, GradModeGuard, Scalar, Sequence, Tensor, Unknown, Value
from torchlint.model.torch.arguments import as_argument, cst_of, truth_of
from torchlint.model.torch.contractions import FOLLOWED, contraction
from torchlint.model.torch.creation import create, new_parameter, new_variable
from torchlint.model.torch.defaults import new_device, set_default_device, set_default_dtype, set_default_type
from torchlint.model.torch.gradients import differentiate
from torchlint.model.torch.inplace import in_place_function
from torchlint.model.torch.layers import new_layer
from torchlint.model.torch.operations import apply
from torchlint.model.torch.optimizers import new_optimizer
from torchlint.model.torch.torch import Torch
from torchlint.syntax.spelling import dotted

_OTHER_THAN_EAGER = (
    "torch.jit.is_scripting", "torch.jit.is_tracing", "torch._C._is_tracing", "torch._C._get_tracing_state",
    "torch.onnx.is_in_onnx_export", "torch.compiler.is_compiling", "torch.compiler.is_exporting",
    "torch.compiler.is_dynamo_compiling", "torch._dynamo.is_compiling", "torch._utils.is_compiling",
)  # fmt: skip
"""Functions that give False, or None, in eager mode."""
SETS_GRAD_MODE = (*sorted(names.SET_GRAD_ENABLED), "torch._C._set_grad_enabled")
"""Functions whose call changes the grad mode, whatever becomes of their result."""
NAMES_OF_SETTERS: Final = frozenset(each.rpartition(".")[2] for each in SETS_GRAD_MODE)
"""What they are called, of whatever module."""


def set_grad_mode(torch: Torch, mode: Truth) -> None:
    """The grad mode is set by a call; outside of any `with` it stays so when the function is left."""
    machine = torch.machine
    machine.trail.set(machine, "grad_mode", mode)
    machine.trail.set(machine, "callers_mode", Truth.NO)
    torch.modes_set += 1
    if not machine.contexts:
        machine.trail.set(machine, "ambient", mode)


def torch_call(torch: Torch, qualified: str, site: CallSite) -> Value | None:
    """A call of something of torch by its qualified name; None if it is not known."""
    function = TORCH_FUNCTIONS.get(qualified)
    if function is not None:
        return function(torch, qualified, site)
    if qualified.startswith("torch.nn.init."):
        return _init(torch, qualified, site)
    kind = modules.find(qualified)
    if kind is not None:
        return new_layer(torch, kind, site)
    optimizer = optimizers.find(qualified)
    if optimizer is not None and not optimizer.is_scheduler:
        return new_optimizer(torch, qualified, site)
    if factories.find(qualified) is not None:
        return create(torch, qualified, site, site.sized())
    return _function(torch, qualified, site)


def _dropout_(torch: Torch, qualified: str, site: CallSite) -> Value | None:
    """`torch.dropout_(x, p, train)`."""
    if len(site.positional) != 3 or 0 not in site.arguments:
        return None
    written = site.arguments[0].value
    where, name = cst_of(written), dotted(written)
    return in_place_function(torch, "dropout", site.positional, {}, site.node, where, name, Truth.YES)


def _grad_mode(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.no_grad()` and its kin."""
    mode = Truth.YES if qualified.endswith("enable_grad") else Truth.NO
    if qualified.endswith("inference_mode") and truth_of(site.get(0, "mode"), Truth.YES) is not Truth.YES:
        mode = Truth.MAYBE
    return GradModeGuard(mode, qualified.endswith("inference_mode") and mode is Truth.NO)


def _set_grad_enabled(torch: Torch, qualified: str, site: CallSite) -> Value:
    mode = truth_of(site.get(0, "mode"))
    set_grad_mode(torch, mode)
    return GradModeGuard(mode)


def _nothing(torch: Torch, qualified: str, site: CallSite) -> Value:
    """A function that does nothing to what the model knows."""
    return Unknown()


def _total_norm(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`clip_grad_norm_` gives the norm as it was, computed under `no_grad` (torch/nn/utils/clip_grad.py)."""
    return fresh(
        torch.autograd, site.node, "clip_grad_norm_", shape=(), cut="`clip_grad_norm_` computes under `no_grad`"
    )


def _is_tensor(torch: Torch, qualified: str, site: CallSite) -> Value | None:
    if not site.positional:
        return _function(torch, qualified, site)
    return Constant(True) if isinstance(site.positional[0], Tensor) else Scalar("bool")


def _is_recording(torch: Torch, qualified: str, site: CallSite) -> Value:
    """
    `torch.is_grad_enabled()`, which is what the model knows of the mode; so with inference mode. Where the mode is that
    of a caller, it counts as on in a test, and what is set to it later (`set_grad_enabled(before)`) is unknown.
    """
    mode = torch.machine.grad_mode
    if qualified == "torch.is_grad_enabled" and mode is Truth.YES and torch.machine.callers_mode is not Truth.NO:
        return Scalar("grad_mode")
    if qualified == "torch.is_inference_mode_enabled" and mode is not Truth.YES:
        return Constant(True) if torch.machine.inference is Truth.YES else Scalar("bool")
    return (
        Scalar("bool") if mode is Truth.MAYBE else Constant((mode is Truth.YES) == qualified.endswith("grad_enabled"))
    )


def _no(torch: Torch, qualified: str, site: CallSite) -> Value:
    """Whether a program is traced, scripted, compiled or exported: a proof is about eager mode."""
    return NONE if qualified.endswith("_state") else Constant(False)


def _function(torch: Torch, qualified: str, site: CallSite) -> Value | None:
    display = qualified.rpartition(".")[2]
    inplace = site.keywords.get("inplace")
    keywords = {key: value for key, value in site.keywords.items() if key != "inplace"}
    first = site.argument(0, "input")
    target = cst_of(first.value) if first is not None else None
    name = dotted(first.value) if first is not None else ""
    truth = truth_of(inplace, Truth.NO)
    given, at = site.positional, _INPLACE_AT.get(qualified)
    if inplace is not None and at is None and qualified.rpartition(".")[0] in ("torch", "torch.nn.functional"):
        torch.machine.dead = True  # torch raises: `F.sigmoid()` takes no `inplace`
        return Unknown()
    if inplace is None and at is not None and len(given) > at:
        truth, given = truth_of(given[at]), given[:at]
    if truth is not Truth.NO:
        result = in_place_function(torch, display, given, keywords, site.node, target, name, truth)
        if result is not None:
            return result
    if not site.complete:
        return None
    positional = site.positional
    if positional and _is_number(positional[0]) and takes_no_number(qualified):
        torch.machine.dead = True  # torch raises
        return Unknown()
    if qualified in FOLLOWED:
        result = contraction(torch, qualified, positional, keywords, site.node, display)
        if result is not None:
            return result
    if qualified == "torch.broadcast_tensors":
        return _broadcast(torch, positional, site)
    several = len(positional) > 1 or not display.startswith("atleast_")
    if positional and isinstance(positional[0], Tensor) and several and _variadic(qualified):
        positional = [Sequence("tuple", tuple(positional))]
    return apply(torch, qualified, positional, keywords, site.node, display, target=target, name=name)


def _is_number(value: Value) -> bool:
    """Whether it is certainly a number of Python's."""
    if isinstance(value, Constant):
        return type(value.value) in (int, float)
    return isinstance(value, Scalar) and value.kind in ("float", "number")  # an annotation says "int", too


def _broadcast(torch: Torch, tensors: list[Value], site: CallSite) -> Value | None:
    """
    Every tensor expanded to the shape of all, if it has another (`expand_outplace` in
    aten/src/ATen/ExpandUtils.h).
    """
    if len(tensors) == 1 and isinstance(tensors[0], Sequence) and tensors[0].items is not None:
        tensors = list(tensors[0].items)
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
        return None
    shape: Shape = ()
    for tensor in tensors:
        sized = shapes.Sized(shape, "float")
        (shape, *_) = shapes.infer("add", {"self": sized, "other": as_argument(tensor)})
    if shape is None or None in shape:
        return None
    size = Sequence("tuple", tuple(Constant(each) for each in shape))
    results = [
        tensor
        if isinstance(tensor, Tensor) and tensor.shape == shape
        else apply(torch, "torch.Tensor.expand", [tensor, size], {}, site.node, "expand")
        for tensor in tensors
    ]
    return Sequence("tuple", tuple(result if result is not None else Unknown() for result in results))


def _init(torch: Torch, qualified: str, site: CallSite) -> Value:
    machine = torch.machine
    display = qualified.rpartition(".")[2]
    target = site.get(0, "tensor")
    argument = site.argument(0, "tensor")
    if target is None or argument is None or not display.endswith("_"):
        return Unknown()
    mode, assumed = machine.grad_mode, machine.assumed
    machine.grad_mode = Truth.NO
    for guard, tensor in tensor_options(torch.autograd, target):
        machine.assumed = assumed | guard
        write(
            torch.autograd, tensor, site.node, cst_of(argument.value), display, "function", name=dotted(argument.value)
        )
    machine.grad_mode, machine.assumed = mode, assumed
    return target


_INPLACE_AT = {
    f"torch.nn.functional.{name}": place
    for place, names_ in {
        1: ("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"),
        2: ("elu", "celu", "leaky_relu"),
        3: (
            *("hardtanh", "threshold", "dropout", "dropout1d", "dropout2d", "dropout3d"),
            *("alpha_dropout", "feature_alpha_dropout"),
        ),
        4: ("rrelu",),
    }.items()
    for name in names_
}
"""
The place of the argument `inplace`, which is the last: `F.relu(x, True)`. No other function of `torch.nn.functional`
takes one, and none of `torch` (torch/nn/functional.py, torch/_C/_VariableFunctions.pyi).
"""


def _variadic(qualified: str) -> bool:
    """Whether all tensors given are its one argument: `torch.meshgrid(a, b)`."""
    first = (op.parameters[0] for op in ops.find(qualified) if op.parameters)
    return any(each.variadic and each.kind == "tensors" for each in first)


Function: TypeAlias = "Callable[[Torch, str, CallSite], Value | None]"

TORCH_FUNCTIONS: Final[dict[str, Function]] = {
    **dict.fromkeys(
        names.NO_GRAD | names.INFERENCE_MODE | names.ENABLE_GRAD,
        _grad_mode,
    ),
    **dict.fromkeys(SETS_GRAD_MODE, _set_grad_enabled),
    **dict.fromkeys(("torch.autograd.grad", "torch.autograd.backward"), differentiate),
    "torch.device": new_device,
    "torch.set_default_dtype": set_default_dtype,
    "torch.set_default_tensor_type": set_default_type,
    "torch.set_default_device": set_default_device,
    **dict.fromkeys(names.PARAMETER, new_parameter),
    **dict.fromkeys(names.VARIABLE, new_variable),
    **dict.fromkeys(("torch.nn.utils.clip_grad_value_", "torch.manual_seed"), _nothing),
    **dict.fromkeys(names.CLIP_GRAD_NORM, _total_norm),
    "torch.is_tensor": _is_tensor,
    **dict.fromkeys(("torch.is_grad_enabled", "torch.is_inference_mode_enabled"), _is_recording),
    **dict.fromkeys(_OTHER_THAN_EAGER, _no),
    "torch.dropout_": _dropout_,
}
"""Functions and classes with a meaning of their own for autograd."""
