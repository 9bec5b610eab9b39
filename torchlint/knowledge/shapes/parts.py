"""
Shapes of what takes parts of a tensor, or lays it into a larger one: selecting, gathering, diagonals, padding.

References
----------
https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.shapes.domain import (
    Arguments,
    Description,
    Result,
    ShapeUnknownError,
    Sizes,
    broadcast,
    known,
    numel,
    size_of,
    sizes_of,
    wrap,
)

DESCRIBED: Final = Description()


def with_size(shape: Sizes, dim: int, size: int | None) -> Sizes:
    """`shape` with another size in one dimension."""
    return (*shape[:dim], size, *shape[dim + 1 :])


def without(shape: Sizes, dim: int) -> Sizes:
    """`shape` less one dimension."""
    return (*shape[:dim], *shape[dim + 1 :])


def sliced(size: int | None, start: object, stop: object, step: object) -> int | None:
    """The number of elements that `start:stop:step` takes of `size`, or None if unknown. The step is at least 1."""
    step = 1 if step is None else step
    if start in (None, 0) and stop is None and step == 1:
        return size
    if size is None or not isinstance(step, int) or step < 1:
        return None
    for bound in (start, stop):
        if bound is not None and not isinstance(bound, int):
            return None
    first, end, step = slice(start, stop, step).indices(size)
    return max(-((first - end) // step), 0)  # no `len` of a `range`, which cannot tell more than `sys.maxsize`


@DESCRIBED.of("select", "select_copy")
def _select(a: Arguments) -> Result:
    shape = a.shape()
    if not shape:
        raise ShapeUnknownError
    return without(shape, wrap(a.integer("dim"), len(shape)))


@DESCRIBED.of("slice", "slice_copy")
def _slice(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", 0), len(shape))
    return with_size(shape, dim, sliced(shape[dim], a.get("start"), a.get("end"), a.get("step", 1)))


@DESCRIBED.of("narrow", "narrow_copy")
def _narrow(a: Arguments) -> Result:
    shape = a.shape()
    return with_size(shape, wrap(a.integer("dim"), len(shape)), size_of(a.get("length")))


@DESCRIBED.of("diagonal")
def _diagonal(a: Arguments) -> Result:
    return _diagonals(a, 0, 1)


@DESCRIBED.of("linalg_diagonal")
def _linalg_diagonal(a: Arguments) -> Result:
    return _diagonals(a, -2, -1)


def _diagonals(a: Arguments, first_default: int, second_default: int) -> Result:
    shape = a.shape()
    first = wrap(a.integer("dim1", first_default), len(shape))
    second = wrap(a.integer("dim2", second_default), len(shape))
    rest = tuple(size for axis, size in enumerate(shape) if axis not in (first, second))
    return (*rest, _diagonal_length(shape[first], shape[second], a.integer("offset", 0)))


def _diagonal_length(rows: int | None, columns: int | None, offset: int) -> int | None:
    if rows is None or columns is None:
        return None
    return max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)


@DESCRIBED.of("diag")
def _diag(a: Arguments) -> Result:
    shape, offset = a.shape(), a.integer("diagonal", 0)
    if len(shape) == 1:
        side = None if shape[0] is None else shape[0] + abs(offset)
        return (side, side)
    return (_diagonal_length(shape[0], shape[1], offset),)


@DESCRIBED.of("diagflat")
def _diagflat(a: Arguments) -> Result:
    total = numel(a.operand())
    side = None if total is None else total + abs(a.integer("offset", 0))
    return (side, side)


@DESCRIBED.of("diag_embed")
def _diag_embed(a: Arguments) -> Result:
    shape = a.shape()
    rank = len(shape) + 1
    first, second = wrap(a.integer("dim1", -2), rank), wrap(a.integer("dim2", -1), rank)
    side = None if shape[-1] is None else shape[-1] + abs(a.integer("offset", 0))
    rest = iter(shape[:-1])
    return tuple(side if axis in (first, second) else next(rest) for axis in range(rank))


@DESCRIBED.of("gather")
def _gather(a: Arguments) -> Result:
    return a.operand("index")


@DESCRIBED.of("take")
def _take(a: Arguments) -> Result:
    return a.operand("index")


@DESCRIBED.of("take_along_dim")
def _take_along_dim(a: Arguments) -> Result:
    index = a.operand("indices")
    if a.get("dim") is None:
        return (numel(index),)
    shape, along = a.shape(), known(index)
    dim = wrap(a.integer("dim"), len(shape))
    both = broadcast(with_size(shape, dim, 1), with_size(along, dim, 1))
    return None if both is None else with_size(both, dim, along[dim])


@DESCRIBED.of("index_select")
def _index_select(a: Arguments) -> Result:
    shape = a.shape()
    if not shape:
        return ()
    return with_size(shape, wrap(a.integer("dim"), len(shape)), numel(a.operand("index")))


@DESCRIBED.of("bincount", "masked_select")
def _masked_select(a: Arguments) -> Result:
    return (None,)


@DESCRIBED.of("nonzero", "argwhere")
def _nonzero(a: Arguments) -> Result:
    if a.flag("as_tuple"):
        return [(None,)] * max(len(a.shape()), 1)
    shape = a.operand()
    return (None, None if shape is None else len(shape))


@DESCRIBED.of("multinomial")
def _multinomial(a: Arguments) -> Result:
    return (*a.shape()[:-1], size_of(a.get("num_samples")))


@DESCRIBED.of("one_hot")
def _one_hot(a: Arguments) -> Result:
    classes = a.get("num_classes", -1)
    return (*a.shape(), None if classes == -1 else size_of(classes))


@DESCRIBED.of("pad", "constant_pad_nd")
def _pad(a: Arguments) -> Result:
    return padded(a.shape(), sizes_of(a.get("pad")))


def padded(shape: Sizes, pad: Sizes) -> Sizes:
    """`shape` with `pad` in torch's order: pairs from the last dimension to the front."""
    if len(pad) % 2 or len(pad) > 2 * len(shape):
        raise ShapeUnknownError
    sizes = list(shape)
    for pair in range(len(pad) // 2):
        before, after, size = pad[2 * pair], pad[2 * pair + 1], sizes[-1 - pair]
        sizes[-1 - pair] = None if before is None or after is None or size is None else size + before + after
    return tuple(sizes)


def windows(a: Arguments) -> Sizes:
    """`Tensor.unfold(dimension, size, step)`: the windows' length becomes the last dimension."""
    shape = a.shape()
    dim, length, step = wrap(a.integer("dimension"), len(shape)), a.integer("size"), a.integer("step")
    if not shape:
        return (length,)
    size = shape[dim]
    return (*with_size(shape, dim, None if size is None else (size - length) // step + 1), length)


@DESCRIBED.of("as_strided", "as_strided_copy", "resize")
def _as_strided(a: Arguments) -> Result:
    return a.sizes("size")


@DESCRIBED.of("view_as_real")
def _view_as_real(a: Arguments) -> Result:
    return (*a.shape(), 2)


@DESCRIBED.of("view_as_complex")
def _view_as_complex(a: Arguments) -> Result:
    return a.shape()[:-1]


@DESCRIBED.of("cov", "corrcoef")
def _cov(a: Arguments) -> Result:
    shape = a.shape()
    if len(shape) == 2 and shape[0] is None:
        raise ShapeUnknownError
    return () if len(shape) < 2 or shape[0] == 1 else (shape[0], shape[0])


@DESCRIBED.of("vander", "linalg_vander")
def _vander(a: Arguments) -> Result:
    shape = a.shape()
    n = a.get("N")
    shape = shape or (1,)
    return (*shape, shape[-1] if n is None else size_of(n))


@DESCRIBED.of("histc")
def _histc(a: Arguments) -> Result:
    return (size_of(a.get("bins", 100)),)


@DESCRIBED.of("unique", "unique_consecutive")
def _unique(a: Arguments) -> Result:
    """Without `dim` a vector; with inverse or counts more than one result."""
    if a.flag("return_inverse") or a.flag("return_counts") or a.given("dim"):
        raise ShapeUnknownError
    return (None,)


@DESCRIBED.of("isin")
def _isin(a: Arguments) -> Result:
    return a.operand("elements")


@DESCRIBED.of("resize_as", "resize_as_sparse")
def _resize_as(a: Arguments) -> Result:
    return a.operand("the_template")


@DESCRIBED.of("sum_to_size")
def _sum_to_size(a: Arguments) -> Result:
    return a.sizes("size")


@DESCRIBED.of("nonzero_static")
def _nonzero_static(a: Arguments) -> Result:
    return (size_of(a.get("size")), len(a.shape()))


@DESCRIBED.of("unravel_index")
def _unravel_index(a: Arguments) -> Result:
    return [a.operand("indices")] * len(a.sizes("shape"))
