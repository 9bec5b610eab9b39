"""
Shapes of neural network operations: convolutions, pooling, embeddings, resampling, losses.

References
----------
The "Shape" sections of https://docs.pytorch.org/docs/stable/nn.html
"""

from __future__ import annotations

import math
from typing import Final

from torchlint.knowledge.modules.losses import LOSSES, Loss
from torchlint.knowledge.shapes.domain import (
    Arguments,
    Description,
    Result,
    Shape,
    ShapeUnknownError,
    Sized,
    Sizes,
    Transfer,
    known,
    size_of,
    spread,
    wrap,
)
from torchlint.knowledge.shapes.parts import windows, with_size, without
from torchlint.knowledge.shapes.pointwise import broadcast_operands

DESCRIBED: Final = Description()


def window_count(size: int | None, kernel: int | None, stride: int | None, padding: int | None, dilation: int | None,
                 ceil: bool = False) -> int | None:  # fmt: skip
    """How many windows fit in one dimension, None if anything that decides it is unknown."""
    if size is None or kernel is None or stride is None or padding is None or dilation is None or stride < 1:
        return None
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil:
        count = room // stride + 1
    else:
        count = -(-room // stride) + 1
        if (count - 1) * stride >= size + padding:
            count -= 1
    if count < 1:
        raise ShapeUnknownError
    return count


def _spatial(shape: Sizes, count: int, channels: int | None) -> Sizes:
    """Batch (if any) and channels in front; raises `ShapeUnknownError` unless there are 1 or 2 dimensions in front."""
    if len(shape) - count not in (1, 2):
        raise ShapeUnknownError
    return (*shape[: len(shape) - count - 1], channels)


def _convolution(count: int) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape, weight = a.shape(), a.shape("weight")
        front = _spatial(shape, count, weight[0])
        stride, dilation = spread(a.get("stride", 1), count), spread(a.get("dilation", 1), count)
        padding = a.get("padding", 0)
        if padding == "same":
            return (*front, *shape[-count:])
        around = (0,) * count if padding == "valid" else spread(padding, count)
        ends = zip(shape[-count:], weight[2:], stride, around, dilation, strict=True)
        return (*front, *(window_count(*one) for one in ends))

    return transfer


def _transposed_convolution(count: int) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape, weight, groups = a.shape(), a.shape("weight"), a.get("groups", 1)
        channels = weight[1] * groups if weight[1] is not None and isinstance(groups, int) else None
        front = _spatial(shape, count, channels)
        options = (spread(a.get(name, default), count) for name, default in
                   (("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1)))  # fmt: skip
        return (*front, *(_stretched(*one) for one in zip(shape[-count:], weight[2:], *options, strict=True)))

    return transfer


def _stretched(size: int | None, kernel: int | None, stride: int | None, padding: int | None, extra: int | None,
               dilation: int | None) -> int | None:  # fmt: skip
    if size is None or kernel is None or stride is None or padding is None or extra is None or dilation is None:
        return None
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1


def _pooling(count: int, dilated: bool) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape = a.shape()
        front = _spatial(shape, count, shape[-count - 1] if len(shape) > count else None)
        kernel = spread(a.get("kernel_size"), count)
        stride = a.get("stride")
        strides = kernel if stride is None or stride == [] or stride == () else spread(stride, count)
        padding, dilation = spread(a.get("padding", 0), count), spread(a.get("dilation", 1), count)
        ceil = a.flag("ceil_mode")
        ends = zip(shape[-count:], kernel, strides, padding, dilation, strict=True)
        result = (*front, *(window_count(*one, ceil) for one in ends))
        return [result, result] if dilated and a.flag("return_indices") else result

    return transfer


def _with_indices(transfer: Transfer) -> Transfer:
    def both(a: Arguments) -> Result:
        result = transfer(a)
        return result if isinstance(result, list) else [result, result]

    return both


def _adaptive(count: int) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape = a.shape()
        front = _spatial(shape, count, shape[-count - 1] if len(shape) > count else None)
        wanted = a.get("output_size")
        if isinstance(wanted, (tuple, list)) and not isinstance(wanted, Sized):
            if len(wanted) == 1:
                wanted = list(wanted) * count
            if len(wanted) != count:
                raise ShapeUnknownError
            ends = [have if one is None else size_of(one) for one, have in zip(wanted, shape[-count:], strict=True)]
        else:
            ends = list(shape[-count:]) if wanted is None else [size_of(wanted)] * count
        result = (*front, *ends)
        return [result, result] if a.flag("return_indices") else result

    return transfer


def _unpooling(count: int) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape = a.shape()
        front = _spatial(shape, count, shape[-count - 1] if len(shape) > count else None)
        if a.given("output_size"):
            return (*front, *a.sizes("output_size")[-count:])
        kernel = spread(a.get("kernel_size"), count)
        stride = a.get("stride")
        strides = kernel if stride is None or stride == [] or stride == () else spread(stride, count)
        padding = spread(a.get("padding", 0), count)
        ends = zip(shape[-count:], kernel, strides, padding, strict=True)
        return (*front, *(_stretched(size, k, s, p, 0, 1) for size, k, s, p in ends))

    return transfer


for _n in (1, 2, 3):
    DESCRIBED.of(f"conv{_n}d")(_convolution(_n))
    DESCRIBED.of(f"conv_transpose{_n}d")(_transposed_convolution(_n))
    DESCRIBED.of(f"max_pool{_n}d")(_pooling(_n, dilated=True))
    DESCRIBED.of(f"max_pool{_n}d_with_indices")(_with_indices(_pooling(_n, dilated=True)))
    DESCRIBED.of(f"avg_pool{_n}d")(_pooling(_n, dilated=False))
    DESCRIBED.of(f"lp_pool{_n}d")(_pooling(_n, dilated=False))
    DESCRIBED.of(f"adaptive_avg_pool{_n}d")(_adaptive(_n))
    DESCRIBED.of(f"adaptive_max_pool{_n}d")(_adaptive(_n))
    DESCRIBED.of(f"max_unpool{_n}d")(_unpooling(_n))
    DESCRIBED.of(f"adaptive_max_pool{_n}d_with_indices")(_with_indices(_adaptive(_n)))


def _fractional(count: int) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape = a.shape()
        front = _spatial(shape, count, shape[-count - 1] if len(shape) > count else None)
        if a.given("output_size"):
            ends = spread(a.get("output_size"), count)
        else:
            ratio = a.get("output_ratio")
            ratios = list(ratio) if isinstance(ratio, (tuple, list)) else [ratio] * count
            ends = tuple(_scaled(size, one) for size, one in zip(shape[-count:], ratios, strict=True))
        result = (*front, *ends)
        return [result, result] if a.flag("return_indices") else result

    return transfer


for _n in (2, 3):
    DESCRIBED.of(f"fractional_max_pool{_n}d")(_fractional(_n))
    DESCRIBED.of(f"fractional_max_pool{_n}d_with_indices")(_with_indices(_fractional(_n)))


@DESCRIBED.of("embedding_bag")
def _embedding_bag(a: Arguments) -> Result:
    """One row per bag: a bag is a row of a matrix of indices, or begins at an offset into a vector of them."""
    index, width = a.shape(), a.shape("weight")[1]
    if len(index) == 2:
        return (index[0], width)
    bags = a.shape("offsets")[0]
    return (None if bags is None else bags - a.flag("include_last_offset"), width)


@DESCRIBED.of("linear_cross_entropy")
def _linear_cross_entropy(a: Arguments) -> Result:
    if a.text("reduction", "mean") == "none":
        raise ShapeUnknownError
    return ()


@DESCRIBED.of("multi_head_attention_forward")
def _multi_head_attention(a: Arguments) -> Result:
    return [a.operand("query"), None]


@DESCRIBED.of("embedding")
def _embedding(a: Arguments) -> Result:
    index = a.get("indices") if "indices" in a.values else a.get("self")
    weight = a.shape("weight")
    if not isinstance(index, Sized) or index.shape is None or len(weight) != 2:
        raise ShapeUnknownError
    return (*index.shape, weight[1])


@DESCRIBED.of("glu")
def _glu(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", -1), len(shape))
    size = shape[dim]
    return with_size(shape, dim, None if size is None else size // 2)


@DESCRIBED.of("pixel_shuffle")
def _pixel_shuffle(a: Arguments) -> Result:
    *front, channels, height, width = a.shape()
    r = a.integer("upscale_factor")
    return (
        *front,
        None if channels is None else channels // (r * r),
        *(None if s is None else s * r for s in (height, width)),
    )


@DESCRIBED.of("pixel_unshuffle")
def _pixel_unshuffle(a: Arguments) -> Result:
    *front, channels, height, width = a.shape()
    r = a.integer("downscale_factor")
    return (
        *front,
        None if channels is None else channels * r * r,
        *(None if s is None else s // r for s in (height, width)),
    )


@DESCRIBED.of("interpolate", "upsample", "upsample_nearest", "upsample_bilinear")
def _interpolate(a: Arguments) -> Result:
    shape = a.shape()
    count = len(shape) - 2
    if a.given("size"):
        return (*shape[:2], *spread(a.get("size"), count))
    factor = a.get("scale_factor")
    if isinstance(factor, (int, float)):
        factors: list[object] = [factor] * count
    elif isinstance(factor, (tuple, list)) and not isinstance(factor, Sized):
        factors = list(factor)
    else:
        raise ShapeUnknownError
    return (*shape[:2], *(_scaled(size, f) for size, f in zip(shape[2:], factors, strict=True)))


def _scaled(size: int | None, factor: object) -> int | None:
    return math.floor(float(size) * factor) if size is not None and isinstance(factor, (int, float)) else None


@DESCRIBED.of("unfold", "im2col")
def _unfold(a: Arguments) -> Result:
    """Two operations of one name: `Tensor.unfold(dimension, size, step)` and `functional.unfold(kernel_size, …)`."""
    if "dimension" in a.values:
        return windows(a)
    shape = a.shape()
    if len(shape) not in (3, 4):
        raise ShapeUnknownError
    *front, channels, height, width = shape
    kernel = spread(a.get("kernel_size"), 2)
    options = (spread(a.get(name, default), 2) for name, default in (("stride", 1), ("padding", 0), ("dilation", 1)))
    blocks = [window_count(*one) for one in zip((height, width), kernel, *options, strict=True)]
    values = _product(channels, *kernel)
    return (*front, values, _product(*blocks))


def _product(*sizes: int | None) -> int | None:
    result = 1
    for size in sizes:
        if size is None:
            return None
        result *= size
    return result


@DESCRIBED.of("fold", "col2im")
def _fold(a: Arguments) -> Result:
    *front, rows, _ = a.shape()
    kernel = _product(*spread(a.get("kernel_size"), 2))
    channels = None if rows is None or not kernel else rows // kernel
    return (*front, channels, *spread(a.get("output_size"), 2))


@DESCRIBED.of("grid_sample")
def _grid_sample(a: Arguments) -> Result:
    return (*a.shape()[:2], *a.shape("grid")[1:-1])


@DESCRIBED.of("affine_grid")
def _affine_grid(a: Arguments) -> Result:
    sizes = a.sizes("size")
    return (sizes[0], *sizes[2:], len(sizes) - 2)


def _loss(loss: Loss) -> Transfer:
    def transfer(a: Arguments) -> Result:
        scalar = loss.gives_scalar(a.values)
        if scalar:
            return ()
        if scalar is None:
            raise ShapeUnknownError
        return _unreduced(loss, a)

    return transfer


def _unreduced(loss: Loss, a: Arguments) -> Shape:
    if loss.unreduced == "elementwise":
        return broadcast_operands(a, loss.operands)
    if loss.unreduced == "per class":
        shape = a.shape()
        return without(shape, 0 if len(shape) == 1 else 1)
    if loss.unreduced == "per sample":
        return a.shape()[:-1]
    if loss.unreduced == "per pair" and not a.given("distance_function"):
        return known(broadcast_operands(a, loss.operands[:2]))[:-1]
    if loss.unreduced == "per sequence":
        return a.shape("log_probs")[1:-1]
    raise ShapeUnknownError


for _one in LOSSES:
    DESCRIBED.of(_one.functional)(_loss(_one))


@DESCRIBED.of("rnn_tanh_cell", "rnn_relu_cell", "gru_cell")
def _cell(a: Arguments) -> Result:
    return a.operand("hx")
