"""
Shapes of views and rearrangements: reshaping, transposing, expanding, joining and splitting.

References
----------
https://docs.pytorch.org/docs/stable/tensor_view.html
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.shapes.domain import (
    Arguments,
    Description,
    Result,
    ShapeUnknownError,
    Sizes,
    numel,
    sizes_of,
    wrap,
)

DESCRIBED: Final = Description()


def _count(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def resolved(sizes: Sizes, total: int | None) -> Sizes:
    """`sizes` with its -1 replaced by what `total` elements leave for it, or by None if that is unknown."""
    if -1 not in sizes:
        missing = [axis for axis, size in enumerate(sizes) if size is None]
        rest = [size for size in sizes if size is not None]
        if total is not None and len(missing) == 1 and _count(rest):
            return tuple(total // _count(rest) if size is None else size for size in sizes)
        return sizes
    rest = [size for size in sizes if size != -1 and size is not None]
    if None in sizes or total is None or not _count(rest):
        return tuple(None if size == -1 else size for size in sizes)
    return tuple(total // _count(rest) if size == -1 else size for size in sizes)


@DESCRIBED.of("view", "reshape", "_unsafe_view")
def _view(a: Arguments) -> Result:
    if a.get("dtype") is not None or a.first("size", "shape") is None:
        raise ShapeUnknownError
    return resolved(a.sizes("size", "shape"), numel(a.operand()))


@DESCRIBED.of("view_as", "reshape_as", "expand_as")
def _like_other(a: Arguments) -> Result:
    return a.operand("other")


@DESCRIBED.of("flatten", "ravel")
def _flatten(a: Arguments) -> Result:
    start, end = a.get("start_dim", 0), a.get("end_dim", -1)
    if (start, end) == (0, -1):
        return (numel(a.operand()),)
    shape = a.shape()
    first, last = (wrap(a.integer(name, default), len(shape)) for name, default in (("start_dim", 0), ("end_dim", -1)))
    if not shape:
        return (1,)
    return (*shape[:first], numel(shape[first : last + 1]), *shape[last + 1 :])


def flattens_one(rank: int, start: object, end: object) -> bool | None:
    """
    Whether `flatten` joins one dimension alone, and so returns the tensor itself (`flatten` in
    aten/src/ATen/native/TensorShape.cpp); None where `start` or `end` is not known.
    """
    if not isinstance(start, int) or not isinstance(end, int):
        return None
    return rank > 0 and start % rank == end % rank


@DESCRIBED.of("unflatten")
def _unflatten(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim"), len(shape))
    sizes = a.sizes("sizes", "unflattened_size")
    return (*shape[:dim], *resolved(sizes, shape[dim]), *shape[dim + 1 :])


@DESCRIBED.of("squeeze")
def _squeeze(a: Arguments) -> Result:
    shape = a.shape()
    if a.get("dim") is None:
        if None in shape:
            raise ShapeUnknownError
        return tuple(size for size in shape if size != 1)
    value = a.get("dim")
    dims = () if value == () or value == [] else a.dims("dim", len(shape)) or ()
    if any(shape[dim] is None for dim in dims if shape):
        raise ShapeUnknownError
    return tuple(size for axis, size in enumerate(shape) if not (axis in dims and size == 1))


@DESCRIBED.of("unsqueeze")
def _unsqueeze(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim"), len(shape) + 1)
    return (*shape[:dim], 1, *shape[dim:])


def transposed(shape: Sizes, first: int, second: int) -> Sizes:
    """`shape` with two dimensions exchanged."""
    sizes = list(shape)
    if sizes:
        first, second = wrap(first, len(sizes)), wrap(second, len(sizes))
        sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes)


@DESCRIBED.of("transpose", "swapaxes", "swapdims")
def _transpose(a: Arguments) -> Result:
    first = next((name for name in ("dim0", "axis0") if name in a.values), "dim0")
    second = next((name for name in ("dim1", "axis1") if name in a.values), "dim1")
    return transposed(a.shape(), a.integer(first), a.integer(second))


@DESCRIBED.of("t", "T", "numpy_T")
def _t(a: Arguments) -> Result:
    return a.shape()[::-1]


@DESCRIBED.of("mT", "mH", "adjoint", "matrix_H")
def _matrix_transpose(a: Arguments) -> Result:
    shape = a.shape()
    return transposed(shape, -1, -2) if len(shape) > 1 else shape


@DESCRIBED.of("H")
def _conjugate_transpose(a: Arguments) -> Result:
    return a.shape()[::-1]


@DESCRIBED.of("permute")
def _permute(a: Arguments) -> Result:
    shape = a.shape()
    order = [wrap(_whole(dim), len(shape)) for dim in a.sizes("dims", "dim")]
    if sorted(order) != list(range(len(shape))):
        raise ShapeUnknownError
    return tuple(shape[dim] for dim in order)


def _whole(value: int | None) -> int:
    if value is None:
        raise ShapeUnknownError
    return value


@DESCRIBED.of("movedim", "moveaxis")
def _movedim(a: Arguments) -> Result:
    shape = a.shape()
    source = [wrap(_whole(dim), len(shape)) for dim in a.sizes("source")]
    target = [wrap(_whole(dim), len(shape)) for dim in a.sizes("destination")]
    rest = iter(axis for axis in range(len(shape)) if axis not in source)
    placed = dict(zip(target, source, strict=True))
    return tuple(shape[placed[axis] if axis in placed else next(rest)] for axis in range(len(shape)))


@DESCRIBED.of("rot90")
def _rot90(a: Arguments) -> Result:
    first, second = sizes_of(a.get("dims", (0, 1)))
    return a.shape() if a.integer("k", 1) % 2 == 0 else transposed(a.shape(), _whole(first), _whole(second))


@DESCRIBED.of("expand", "broadcast_to")
def _expand(a: Arguments) -> Result:
    sizes = a.sizes("size", "shape")
    shape = a.operand()
    if shape is None:
        return tuple(None if size == -1 else size for size in sizes)
    padded = (None,) * (len(sizes) - len(shape)) + shape
    return tuple(have if size == -1 else size for size, have in zip(sizes, padded, strict=True))


@DESCRIBED.of("repeat", "tile")
def _repeat(a: Arguments) -> Result:
    shape = a.shape()
    counts = a.sizes("repeats", "dims")
    rank = max(len(shape), len(counts))
    both = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(counts)) + counts, strict=True)
    return tuple(_times(size, count) for size, count in both)


def _times(size: int | None, count: int | None) -> int | None:
    return 0 if 0 in (size, count) else None if size is None or count is None else size * count


@DESCRIBED.of("repeat_interleave")
def _repeat_interleave(a: Arguments) -> Result:
    repeats = a.get("repeats")
    count = repeats if isinstance(repeats, int) else None
    if "self" not in a.values:
        return (None,)
    if a.get("dim") is None:
        return (_times(numel(a.operand()), count),)
    sizes = list(a.shape())
    dim = wrap(a.integer("dim"), len(sizes))
    sizes[dim] = _times(sizes[dim], count)
    return tuple(sizes)
