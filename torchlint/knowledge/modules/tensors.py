"""
Which parameters and buffers the classes of `torch.nn` register, and their shapes.

Sizes that the constructor's arguments do not tell are None; a tensor that may or may not be registered (`bias` of
unknown value) is reported as such. Never imports torch.

References
----------
`__init__` in `torch/nn/modules/*.py`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from torchlint.knowledge.modules.call import ntuple
from torchlint.knowledge.shapes.domain import UNKNOWN, Shape, ShapeUnknownError, Sized, Sizes, size_of, sizes_of, spread

Config: TypeAlias = "Mapping[str, object]"


class OwnTensor(NamedTuple):
    """
    A parameter or buffer.

    Attributes
    ----------
    name
        Its name in the module; one of a submodule has dots ("out_proj.weight").
    shape
        Its shape.
    registered
        Whether it is surely there, surely not, or unknown.
    buffer
        A buffer; else a parameter.
    """

    name: str
    shape: Shape
    registered: bool | None = True
    buffer: bool = False


Own: TypeAlias = "tuple[OwnTensor, ...]"
MOST_LAYERS: Final = 1024
"""The parameters of a stack with more layers are not listed."""


def flag(config: Config, name: str, default: bool = True) -> bool | None:
    """A flag of the constructor, None if its value is unknown."""
    value = config.get(name, default)
    return bool(value) if isinstance(value, (bool, int)) else None


def both(first: bool | None, second: bool | None) -> bool | None:
    """Three-valued `and`."""
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def size(config: Config, name: str) -> int | None:
    """A size among the constructor's arguments."""
    return size_of(config.get(name))


def times(left: int | None, right: int | None) -> int | None:
    """A product of sizes."""
    return None if left is None or right is None else left * right


def per(left: int | None, right: object) -> int | None:
    """A quotient of sizes."""
    return None if left is None or not isinstance(right, int) or not right else left // right


def _linear(config: Config) -> Own:
    outputs, inputs = size(config, "out_features"), size(config, "in_features")
    return (OwnTensor("weight", (outputs, inputs)), OwnTensor("bias", (outputs,), flag(config, "bias")))


def _bilinear(config: Config) -> Own:
    outputs = size(config, "out_features")
    weight = (outputs, size(config, "in1_features"), size(config, "in2_features"))
    return (OwnTensor("weight", weight), OwnTensor("bias", (outputs,), flag(config, "bias")))


def _convolution(count: int, transposed: bool) -> Callable[[Config], Own]:
    def own(config: Config) -> Own:
        inputs, outputs = size(config, "in_channels"), size(config, "out_channels")
        groups, kernel = config.get("groups", 1), _kernel(config, count)
        front = (inputs, per(outputs, groups)) if transposed else (outputs, per(inputs, groups))
        return (OwnTensor("weight", (*front, *kernel)), OwnTensor("bias", (outputs,), flag(config, "bias")))

    return own


def _kernel(config: Config, count: int) -> Sizes:
    try:
        return spread(config.get("kernel_size"), count)
    except ShapeUnknownError:
        return (None,) * count


def _batch_norm(config: Config) -> Own:
    features = (size(config, "num_features"),)
    affine, tracked = flag(config, "affine"), flag(config, "track_running_stats")
    return (
        OwnTensor("weight", features, affine),
        OwnTensor("bias", features, both(affine, flag(config, "bias"))),
        OwnTensor("running_mean", features, tracked, buffer=True),
        OwnTensor("running_var", features, tracked, buffer=True),
        OwnTensor("num_batches_tracked", (), tracked, buffer=True),
    )


def _layer_norm(config: Config) -> Own:
    shape = _normalized_shape(config)
    affine = flag(config, "elementwise_affine")
    return (OwnTensor("weight", shape, affine), OwnTensor("bias", shape, both(affine, flag(config, "bias"))))


def _rms_norm(config: Config) -> Own:
    return (OwnTensor("weight", _normalized_shape(config), flag(config, "elementwise_affine")),)


def _normalized_shape(config: Config) -> Shape:
    try:
        return sizes_of(ntuple(config.get("normalized_shape"), 1))
    except ShapeUnknownError:
        return None


def _group_norm(config: Config) -> Own:
    channels, affine = (size(config, "num_channels"),), flag(config, "affine")
    return (OwnTensor("weight", channels, affine), OwnTensor("bias", channels, both(affine, flag(config, "bias"))))


def _embedding(config: Config) -> Own:
    return (OwnTensor("weight", (size(config, "num_embeddings"), size(config, "embedding_dim"))),)


def _prelu(config: Config) -> Own:
    return (OwnTensor("weight", (size(config, "num_parameters"),)),)


def _given_tensors(config: Config) -> Own:
    """Class weights of losses, and the samples of a fractional pooling, are buffers if they were given."""
    return tuple(_given(config, name) for name in ("weight", "pos_weight", "_random_samples") if name in config)


def _given(config: Config, name: str) -> OwnTensor:
    value = config[name]
    shape = value.shape if isinstance(value, Sized) else None
    registered = False if value is None else True if isinstance(value, Sized) else None
    return OwnTensor(name, shape, registered, buffer=True)


def recurrent(gates: int) -> Callable[[Config], Own]:
    """
    RNN, LSTM and GRU: per layer and direction input and hidden weights of `gates` blocks, biases, projection. Of an
    unknown number of layers there is a first one.
    """

    def own(config: Config) -> Own:
        hidden, projection = size(config, "hidden_size"), config.get("proj_size", 0)
        layers, directions = config.get("num_layers"), flag(config, "bidirectional")
        biased = flag(config, "bias")
        if isinstance(layers, int) and layers > MOST_LAYERS:
            return ()
        projected = bool(projection) if isinstance(projection, int) else None
        outer = None if projected is None else size(config, "proj_size") if projected else hidden
        both_ways = None if directions is None else 2 if directions else 1
        tensors: list[OwnTensor] = []
        for layer in range(layers if isinstance(layers, int) else 2):
            there = True if layer == 0 or isinstance(layers, int) else None
            inputs = size(config, "input_size") if layer == 0 else times(outer, both_ways)
            for reverse, known in (("", True), ("_reverse", directions)):
                suffix, registered = f"_l{layer}{reverse}", both(there, known)
                gated = _gates(times(gates, hidden), inputs, outer, biased, suffix)
                found = [*gated, OwnTensor(f"weight_hr{suffix}", (outer, hidden), projected)]
                tensors += [one._replace(registered=both(one.registered, registered)) for one in found]
        return tuple(one for one in tensors if one.registered is not False)

    return own


def _gates(rows: int | None, inputs: int | None, hidden: int | None, biased: bool | None, suffix: str) -> Own:
    return (
        OwnTensor(f"weight_ih{suffix}", (rows, inputs)),
        OwnTensor(f"weight_hh{suffix}", (rows, hidden)),
        OwnTensor(f"bias_ih{suffix}", (rows,), biased),
        OwnTensor(f"bias_hh{suffix}", (rows,), biased),
    )


def _cell(gates: int) -> Callable[[Config], Own]:
    def own(config: Config) -> Own:
        hidden = size(config, "hidden_size")
        return _gates(times(gates, hidden), size(config, "input_size"), hidden, flag(config, "bias"), "")

    return own


def _attention(config: Config) -> Own:
    width, biased = size(config, "embed_dim"), flag(config, "bias")
    keys, values = (_own_width(config, name, width) for name in ("kdim", "vdim"))
    same = None if None in (keys, values, width) else keys == values == width
    added = flag(config, "add_bias_kv", False)
    split = None if same is None else not same
    return (
        OwnTensor("in_proj_weight", (times(3, width), width), same),
        OwnTensor("q_proj_weight", (width, width), split),
        OwnTensor("k_proj_weight", (width, keys), split),
        OwnTensor("v_proj_weight", (width, values), split),
        OwnTensor("in_proj_bias", (times(3, width),), biased),
        OwnTensor("bias_k", (1, 1, width), added),
        OwnTensor("bias_v", (1, 1, width), added),
        OwnTensor("out_proj.weight", (width, width)),
        OwnTensor("out_proj.bias", (width,), biased),
    )


def _own_width(config: Config, name: str, default: int | None) -> int | None:
    value = config.get(name)
    return default if value is None else size_of(value)


def prefixed(prefix: str, tensors: Own) -> Own:
    """The tensors of a submodule, under its name."""
    return tuple(tensor._replace(name=f"{prefix}.{tensor.name}") for tensor in tensors)


def _transformer_layer(attentions: tuple[str, ...]) -> Callable[[Config], Own]:
    def own(config: Config) -> Own:
        width, inner, bias = (
            config.get("d_model", UNKNOWN),
            config.get("dim_feedforward", UNKNOWN),
            config.get("bias", True),
        )
        attention = _attention({"embed_dim": width, "bias": bias})
        norm = _layer_norm({"normalized_shape": width, "elementwise_affine": True, "bias": bias})
        return (
            *(tensor for name in attentions for tensor in prefixed(name, attention)),
            *prefixed("linear1", _linear({"in_features": width, "out_features": inner, "bias": bias})),
            *prefixed("linear2", _linear({"in_features": inner, "out_features": width, "bias": bias})),
            *(tensor for index in range(len(attentions) + 1) for tensor in prefixed(f"norm{index + 1}", norm)),
        )

    return own


_encoder_layer = _transformer_layer(("self_attn",))
_decoder_layer = _transformer_layer(("self_attn", "multihead_attn"))


def _transformer(config: Config) -> Own:
    counts = [config.get(name) for name in ("num_encoder_layers", "num_decoder_layers")]
    custom = [config.get(name) for name in ("custom_encoder", "custom_decoder")]
    if any(one is not None for one in custom) or any(isinstance(one, int) and one > MOST_LAYERS for one in counts):
        return ()
    norm = _layer_norm({"normalized_shape": config.get("d_model"), "bias": config.get("bias", True)})
    tensors: list[OwnTensor] = []
    for name, count, layer in zip(("encoder", "decoder"), counts, (_encoder_layer, _decoder_layer), strict=True):
        for index in range(count if isinstance(count, int) else 0):
            tensors += prefixed(f"{name}.layers.{index}", layer(config))
        tensors += prefixed(f"{name}.norm", norm)
    return tuple(tensors)


def _linear_cross_entropy(config: Config) -> Own:
    try:
        extra = sizes_of(config.get("out_features", ()))
    except ShapeUnknownError:
        extra = (None,)
    rows = size(config, "num_classes")
    for one in extra:
        rows = times(rows, one)
    linear = {"in_features": config.get("in_features"), "out_features": rows, "bias": config.get("bias", False)}
    return (*_given_tensors(config), *prefixed("linear", _linear(linear)))


def _adaptive_softmax(config: Config) -> Own:
    cutoffs, classes, inputs = config.get("cutoffs"), size(config, "n_classes"), size(config, "in_features")
    factor = config.get("div_value", 4.0)
    if not isinstance(cutoffs, (tuple, list)) or not all(isinstance(one, int) for one in cutoffs) or not cutoffs:
        return ()
    head = {"in_features": inputs, "out_features": cutoffs[0] + len(cutoffs), "bias": config.get("head_bias", False)}
    tensors = prefixed("head", _linear(head))
    for index, (start, end) in enumerate(zip(cutoffs, (*cutoffs[1:], classes), strict=True)):
        known = inputs is not None and isinstance(factor, (int, float))
        inner = int(inputs // factor ** (index + 1)) if known else None  # type: ignore[operator]
        outer = None if end is None else end - start
        tensors += (
            OwnTensor(f"tail.{index}.0.weight", (inner, inputs)),
            OwnTensor(f"tail.{index}.1.weight", (outer, inner)),
        )
    return tensors


OWN_TENSORS: Final[dict[str, Callable[[Config], Own]]] = {
    "Linear": _linear,
    "LazyLinear": _linear,
    "Bilinear": _bilinear,
    "LayerNorm": _layer_norm,
    "RMSNorm": _rms_norm,
    "GroupNorm": _group_norm,
    "SyncBatchNorm": _batch_norm,
    "Embedding": _embedding,
    "EmbeddingBag": _embedding,
    "PReLU": _prelu,
    "RNN": recurrent(1),
    "GRU": recurrent(3),
    "LSTM": recurrent(4),
    "RNNCell": _cell(1),
    "GRUCell": _cell(3),
    "LSTMCell": _cell(4),
    "MultiheadAttention": _attention,
    "TransformerEncoderLayer": _encoder_layer,
    "TransformerDecoderLayer": _decoder_layer,
    "Transformer": _transformer,
    "AdaptiveLogSoftmaxWithLoss": _adaptive_softmax,
    "LinearCrossEntropyLoss": _linear_cross_entropy,
    **dict.fromkeys(("BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "NLLLoss2d"), _given_tensors),
    **dict.fromkeys(
        ("MultiLabelSoftMarginLoss", "MultiMarginLoss", "FractionalMaxPool2d", "FractionalMaxPool3d"), _given_tensors
    ),
    **{f"{lazy}Conv{n}d": _convolution(n, transposed=False) for lazy in ("", "Lazy") for n in (1, 2, 3)},
    **{f"{lazy}ConvTranspose{n}d": _convolution(n, transposed=True) for lazy in ("", "Lazy") for n in (1, 2, 3)},
    **{
        f"{lazy}{norm}Norm{n}d": _batch_norm
        for lazy in ("", "Lazy")
        for norm in ("Batch", "Instance")
        for n in (1, 2, 3)
    },
}
"""Class name to what it registers; a class that is absent registers nothing of its own."""
