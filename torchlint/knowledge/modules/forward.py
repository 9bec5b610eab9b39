"""
The forwards of `torch.nn` as calls, those included that are more than one call or choose between calls.

References
----------
`forward` in `torch/nn/modules/*.py`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from torchlint.knowledge.modules import losses
from torchlint.knowledge.modules.call import Application, Input, Operand, Result, Value, application, own_operand
from torchlint.knowledge.modules.table import Entry
from torchlint.knowledge.modules.tensors import Config
from torchlint.knowledge.shapes.domain import UNKNOWN, Shape, ShapeUnknownError, spread

Registered: TypeAlias = "Mapping[str, bool | None]"
Forward: TypeAlias = "tuple[Application, ...]"
_Special: TypeAlias = "Callable[[Config, Registered, bool | None], Forward | None]"

_F: Final = "torch.nn.functional."


def forward(
    name: str, entry: Entry, config: Config, own: Registered, training: bool | None, input_shapes: Sequence[Shape] = ()
) -> Forward | None:
    """
    The forward of one module as calls; none at all if it returns its input; None if it cannot be said so.

    Parameters
    ----------
    name, entry
        The class and its entry in the table.
    config
        The constructor's arguments, all of them.
    own
        Which parameters and buffers are registered.
    training
        The mode, None if unknown.
    input_shapes
        The shapes of forward's arguments, as far as known; a few modules treat an input without a batch otherwise.
    """
    if name == "Identity":
        return ()
    if name in _CELLS:
        return _cell(name, config, own, input_shapes)
    special = _SPECIAL.get(name)
    if special is not None:
        calls = special(config, own, training)
        first = input_shapes[0] if input_shapes else None
        if calls and "InstanceNorm" in name and first is not None and len(first) == int(name[-2]) + 1:
            return _batched(calls[0])
        return calls
    if not entry.call:
        return None
    loss = losses.find(f"torch.nn.{name}")
    if loss is not None:
        config = {**config, "reduction": loss.reduction(config) or UNKNOWN}
    if name.startswith("AvgPool") and config.get("stride", UNKNOWN) is None:
        config = {**config, "stride": config.get("kernel_size", UNKNOWN)}  # in `AvgPool*.__init__`
    inputs = [one.strip() for one in entry.inputs.split(",")]
    return (application(entry.call, inputs, config, own, training),)


def _convolution(count: int) -> _Special:
    def calls(config: Config, own: Registered, training: bool | None) -> Forward | None:
        options = {name: config.get(name, UNKNOWN) for name in ("stride", "padding", "dilation", "groups")}
        mode = config.get("padding_mode", UNKNOWN)
        if not isinstance(mode, str):
            return None
        if mode == "zeros":
            return (_convolved(f"conv{count}d", Input(0), own, options),)
        pad = Value(_reversed_padding(config, count))
        padded = Application(_F + "pad", (("input", Input(0)),), (("pad", pad), ("mode", Value(mode))), "padded")
        return (padded, _convolved(f"conv{count}d", Result("padded"), own, {**options, "padding": (0,) * count}))

    return calls


def _convolved(function: str, operand: Operand, own: Registered, options: Mapping[str, object]) -> Application:
    return Application(
        _F + function,
        (("input", operand), ("weight", own_operand("weight", own)), ("bias", own_operand("bias", own))),
        tuple((name, Value(value)) for name, value in options.items()),
    )


def _reversed_padding(config: Config, count: int) -> object:
    """What `Conv*` pads with itself, in the order of `pad`; "same" puts the odd element at the end."""
    padding = config.get("padding", 0)
    try:
        sides: list[tuple[int | None, int | None]]
        if padding == "same":
            extents = zip(
                spread(config.get("dilation", 1), count), spread(config.get("kernel_size"), count), strict=True
            )
            totals = [None if d is None or k is None else d * (k - 1) for d, k in extents]
            sides = [(None, None) if one is None else (one // 2, one - one // 2) for one in totals]
        else:
            around = (0,) * count if padding == "valid" else spread(padding, count)
            sides = [(one, one) for one in around]
    except ShapeUnknownError:
        return UNKNOWN
    return tuple(UNKNOWN if end is None else end for pair in reversed(sides) for end in pair)


def _transposed_convolution(count: int) -> _Special:
    def calls(config: Config, own: Registered, training: bool | None) -> Forward | None:
        names = ("stride", "padding", "output_padding", "groups", "dilation")
        options = {name: config.get(name, UNKNOWN) for name in names}
        return (_convolved(f"conv_transpose{count}d", Input(0), own, options),)

    return calls


def _batch_norm(config: Config, own: Registered, training: bool | None) -> Forward | None:
    """In training the running statistics are written in place, and so is the count of batches."""
    tracked = own.get("running_mean")
    calls: list[Application] = []
    if training and tracked:
        counted = own_operand("num_batches_tracked", own)
        calls.append(Application("torch.Tensor.add_", (("self", counted), ("other", Value(1))), (), "counted"))
    by_batch: object = UNKNOWN
    if training or tracked is False:
        by_batch = True
    elif training is False and tracked:
        by_batch = False
    momentum = config.get("momentum", UNKNOWN)
    factor: object = momentum
    if momentum is None:
        factor = UNKNOWN if tracked is not False and training is not False else 0.0
    calls.append(_normalized("batch_norm", own, (("training", by_batch), ("momentum", factor)), config))
    return tuple(calls)


def _instance_norm(config: Config, own: Registered, training: bool | None) -> Forward | None:
    tracked = own.get("running_mean")
    by_input: object = UNKNOWN
    if training or tracked is False:
        by_input = True
    elif training is False and tracked:
        by_input = False
    momentum = config.get("momentum", UNKNOWN)
    options = (("use_input_stats", by_input), ("momentum", 0.0 if momentum is None else momentum))
    return (_normalized("instance_norm", own, options, config),)


def _batched(norm: Application) -> Forward:
    """`InstanceNorm*` makes an input without a batch a batch of one."""
    zero = (("dim", Value(0)),)
    arguments = tuple((name, Result("batch") if name == "input" else operand) for name, operand in norm.arguments)
    return (
        Application("torch.Tensor.unsqueeze", (("self", Input(0)),), zero, "batch"),
        replace(norm, arguments=arguments, result="normalized"),
        Application("torch.Tensor.squeeze", (("self", Result("normalized")),), zero),
    )


def _normalized(function: str, own: Registered, options: tuple[tuple[str, object], ...], config: Config) -> Application:
    tensors = ("running_mean", "running_var", "weight", "bias")
    return Application(
        _F + function,
        (("input", Input(0)), *((name, own_operand(name, own)) for name in tensors)),
        (*((name, Value(value)) for name, value in options), ("eps", Value(config.get("eps", UNKNOWN)))),
    )


_CELLS: Final = frozenset({"RNNCell", "GRUCell"})


def _cell(name: str, config: Config, own: Registered, input_shapes: Sequence[Shape]) -> Forward | None:
    """
    A cell of a recurrent network (aten/src/ATen/native/RNN.cpp: `SimpleCell`, `GRUCell`), of an input with a batch.

    In-place operations on what nobody else sees are told as what they compute.
    """
    hidden = config.get("hidden_size", UNKNOWN)
    nonlinear = {"tanh": "torch.tanh", "relu": "torch.relu"}.get(str(config.get("nonlinearity", "tanh")))
    batched = bool(input_shapes) and input_shapes[0] is not None and len(input_shapes[0]) == 2
    if not batched or len(input_shapes) > 2 or not isinstance(hidden, int) or nonlinear is None:
        return None
    state: Operand = Input(1)
    calls = [_linear(Input(0), "ih", own)]
    if len(input_shapes) == 1:
        # a state of zeros, of the size that a gate has, and nobody's but the cell's
        state = Result("zeros")
        calls += [_gate("gate", "ih", 0, hidden), _call("torch.Tensor.detach", "zeros", self=Result("gate"))]
    calls.append(_linear(state, "hh", own))
    if name == "RNNCell":
        return (*calls, _sum("sum", "hh", "ih"), _call(nonlinear, "output", input=Result("sum")))
    for place, gate in enumerate(("reset", "update")):
        calls += [_gate(f"{side} {gate}", side, place, hidden) for side in ("ih", "hh")]
        calls += [_sum(gate, f"hh {gate}", f"ih {gate}"), _call("torch.sigmoid", gate, input=Result(gate))]
    calls += [_gate(f"{side} new", side, 2, hidden) for side in ("ih", "hh")]
    calls += [
        _call("torch.mul", "new", input=Result("hh new"), other=Result("reset")),
        _sum("new", "ih new", "new"),
        _call("torch.tanh", "new", input=Result("new")),
        _call("torch.sub", "change", input=state, other=Result("new")),
        _call("torch.mul", "change", input=Result("change"), other=Result("update")),
        _sum("output", "change", "new"),
    ]
    return tuple(calls)


def _linear(operand: Operand, side: str, own: Registered) -> Application:
    weight, bias = (own_operand(f"{what}_{side}", own) for what in ("weight", "bias"))
    return Application(_F + "linear", (("input", operand), ("weight", weight), ("bias", bias)), (), side)


def _gate(result: str, side: str, place: int, hidden: int) -> Application:
    options = (("dim", Value(1)), ("start", Value(place * hidden)), ("length", Value(hidden)))
    return Application("torch.Tensor.narrow", (("self", Result(side)),), options, result)


def _sum(result: str, one: str, other: str) -> Application:
    return _call("torch.add", result, input=Result(one), other=Result(other))


def _call(function: str, result: str, **operands: Operand) -> Application:
    return Application(function, tuple(operands.items()), (), result)


_SPECIAL: Final[dict[str, _Special]] = {
    **{f"{lazy}Conv{n}d": _convolution(n) for lazy in ("", "Lazy") for n in (1, 2, 3)},
    **{f"{lazy}ConvTranspose{n}d": _transposed_convolution(n) for lazy in ("", "Lazy") for n in (1, 2, 3)},
    **{f"{lazy}BatchNorm{n}d": _batch_norm for lazy in ("", "Lazy") for n in (1, 2, 3)},
    **{f"{lazy}InstanceNorm{n}d": _instance_norm for lazy in ("", "Lazy") for n in (1, 2, 3)},
}
