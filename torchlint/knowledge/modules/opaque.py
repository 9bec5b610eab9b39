"""
Modules whose forward is not told as calls: what they return, and of which shape.

References
----------
The "Outputs" sections of https://docs.pytorch.org/docs/stable/nn.html#recurrent-layers and #transformer-layers
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from torchlint.knowledge.modules.tensors import Config, flag, size, times
from torchlint.knowledge.shapes.domain import Shape

Structure: TypeAlias = "str | tuple[Structure, ...]"


@dataclass(frozen=True, slots=True)
class Opaque:
    """
    What is known of a forward that is not told as calls.

    Attributes
    ----------
    structure
        "tensor", a tuple of such (an LSTM's is ("tensor", ("tensor", "tensor"))), or "unknown" for what may be a
        tensor or None.
    saves
        Which arguments of forward (by position; of a pair of states both) it surely saves for backward in training
        mode, provided that its parameters require grad and that the argument is contiguous: written in place after
        the call, backward raises. Empty if unsure, as for `batch_first=True`, where some kernels save a copy.
    saves_result
        True if it surely saves the very tensor it returns, None if unknown: kernels differ from device to device.
    """

    structure: Structure = "tensor"
    saves: tuple[int, ...] = ()
    saves_result: bool | None = None


_STRUCTURES: Final[dict[str, Structure]] = {
    "RNN": ("tensor", "tensor"),
    "GRU": ("tensor", "tensor"),
    "LSTM": ("tensor", ("tensor", "tensor")),
    "LSTMCell": ("tensor", "tensor"),
    "MultiheadAttention": ("tensor", "unknown"),
    "AdaptiveLogSoftmaxWithLoss": ("tensor", "tensor"),
    **dict.fromkeys(("RNNCell", "GRUCell", "CrossMapLRN2d", "LinearCrossEntropyLoss", "SyncBatchNorm"), "tensor"),
    **dict.fromkeys(("Transformer", "TransformerEncoder", "TransformerDecoder"), "tensor"),
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer"), "tensor"),
}


_SAVES: Final[dict[str, tuple[int, ...]]] = {
    **dict.fromkeys(("RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell"), (0, 1)),
    "MultiheadAttention": (0, 1, 2),
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer", "LinearCrossEntropyLoss"), (0,)),
}


def opaque(name: str, config: Config) -> Opaque | None:
    """What is known of the forward of this class, built so; None if it is told as calls."""
    structure = _STRUCTURES.get(name)
    if structure is None:
        return None
    saves = _SAVES.get(name, ()) if flag(config, "batch_first", False) is False else ()
    return Opaque(structure, saves, True if name == "RNNCell" else None)


def saved_weights(name: str, config: Config, inputs: Sequence[Shape]) -> dict[str, tuple[int, ...]]:
    """
    The weights of a recurrent layer that it surely saves for backward, whichever kernel runs.

    A weight is saved for the gradient of what it is multiplied with: of the input, of the state, of what the layer
    below has computed, and from the second step of a sequence on of the state that the first has computed
    (aten/src/ATen/native/RNN.cpp). Fused kernels save all weights.

    Parameters
    ----------
    name
        The class.
    config
        The constructor's arguments.
    inputs
        The shapes of forward's tensor arguments, in order.

    Returns
    -------
    dict
        By the name of the weight the arguments of forward (by position; of a pair of states the first) one of which
        must require grad; none: it is saved in any case.
    """
    if name == "LSTMCell":  # other cells are told as calls
        return {"weight_ih": (0,), "weight_hh": (1,)}
    if name not in ("RNN", "GRU", "LSTM"):
        return {}
    shape = inputs[0] if inputs else None
    batch_first = flag(config, "batch_first", False)
    steps = None
    if shape is not None and len(shape) in (2, 3) and (len(shape) == 2 or batch_first is not None):
        steps = shape[1 if len(shape) == 3 and batch_first else 0]
    first: tuple[int, ...] = (1,) if steps is None or steps < 2 else ()
    found: dict[str, tuple[int, ...]] = {"weight_ih_l0": (0,), "weight_hh_l0": first}
    layers = config.get("num_layers")
    if isinstance(layers, int):
        found.update((f"weight_ih_l{layer}", ()) for layer in range(1, layers))
    return found


def output_shape(name: str, config: Config, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
    """
    The shapes of the tensors in the output's structure, from left to right.

    Parameters
    ----------
    name
        The class.
    config
        The constructor's arguments.
    inputs
        The shapes of forward's tensor arguments, in order; an LSTM's state pair counts as one, None.

    Returns
    -------
    tuple
        `(None,)` if nothing is known.
    """
    rule = _SHAPES.get(name)
    return (None,) if rule is None or not inputs or inputs[0] is None else rule(config, inputs)


def _recurrent(lstm: bool) -> Callable[[Config, Sequence[Shape]], tuple[Shape, ...]]:
    def shapes(config: Config, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        shape, hidden = inputs[0], size(config, "hidden_size")
        both_ways, batch_first = flag(config, "bidirectional"), flag(config, "batch_first")
        directions = None if both_ways is None else 2 if both_ways else 1
        projection = config.get("proj_size", 0)
        outer = None if not isinstance(projection, int) else projection or hidden
        assert shape is not None
        output: Shape = (*shape[:-1], times(outer, directions))
        layers = times(size(config, "num_layers"), directions)
        if len(shape) == 3:
            batch = None if batch_first is None else shape[0 if batch_first else 1]
            state: Shape = (layers, batch, outer)
            cell: Shape = (layers, batch, hidden)
        else:
            state, cell = (layers, outer), (layers, hidden)
        return (output, state, cell) if lstm else (output, state)

    return shapes


def _cell(count: int) -> Callable[[Config, Sequence[Shape]], tuple[Shape, ...]]:
    def shapes(config: Config, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        shape = inputs[0]
        assert shape is not None
        return ((*shape[:-1], size(config, "hidden_size")),) * count

    return shapes


def _like_first(config: Config, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
    return (inputs[0],)


def _like_target(config: Config, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
    return (inputs[1] if len(inputs) > 1 else None,)


def _attention(config: Config, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
    """The attention's weights depend on arguments of the call, so their shape is left open."""
    shape = inputs[0]
    assert shape is not None
    return ((*shape[:-1], size(config, "embed_dim")), None)


_SHAPES: Final[dict[str, Callable[[Config, Sequence[Shape]], tuple[Shape, ...]]]] = {
    "RNN": _recurrent(lstm=False),
    "GRU": _recurrent(lstm=False),
    "LSTM": _recurrent(lstm=True),
    "RNNCell": _cell(1),
    "GRUCell": _cell(1),
    "LSTMCell": _cell(2),
    "MultiheadAttention": _attention,
    "CrossMapLRN2d": _like_first,
    "SyncBatchNorm": _like_first,
    "TransformerEncoder": _like_first,
    "TransformerEncoderLayer": _like_first,
    "TransformerDecoder": _like_first,
    "TransformerDecoderLayer": _like_first,
    "Transformer": _like_target,
}
