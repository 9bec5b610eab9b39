"""
Shapes of what takes parts of a tensor or puts parts together: splitting, selecting, gathering, padding.

References
----------
https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.shapes_domain import (
    INTEGER,
    Arguments,
    Description,
    Result,
    ShapeUnknownError,
    Sized,
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
    return len(range(*slice(start, stop, step).indices(size)))


def pieces(shape: Sizes, dim: int, sizes: list[int | None]) -> Result:
    """One shape per piece."""
    return [with_size(shape, dim, size) for size in sizes]


@DESCRIBED.of("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes")
def _split(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", 0), len(shape))
    step = a.first("split_size", "split_size_or_sections", "split_sizes")
    if step is INTEGER:
        raise ShapeUnknownError
    if not isinstance(step, int):
        return pieces(shape, dim, list(sizes_of(step)))
    total = shape[dim]
    if total is None:
        raise ShapeUnknownError
    if step == 0 or total == 0:
        return pieces(shape, dim, [total])
    return pieces(shape, dim, [min(step, total - start) for start in range(0, total, step)])


@DESCRIBED.of("chunk", "unsafe_chunk")
def _chunk(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", 0), len(shape))
    total, chunks = shape[dim], a.integer("chunks")
    if total is None or chunks < 1:
        raise ShapeUnknownError
    if total == 0:
        return pieces(shape, dim, [0] * chunks)
    step = -(-total // chunks)
    return pieces(shape, dim, [min(step, total - start) for start in range(0, total, step)])


def _tensor_split(a: Arguments, dim: int) -> Result:
    shape = a.shape()
    total = shape[dim]
    at = a.first("indices_or_sections", "sections", "indices", "tensor_indices_or_sections")
    if isinstance(at, int):
        if total is None:
            return pieces(shape, dim, [None] * at)
        return pieces(shape, dim, [total // at + (part < total % at) for part in range(at)])
    if at is INTEGER:
        raise ShapeUnknownError
    bounds = sizes_of(at)
    starts, stops = (0, *bounds), (*bounds, None)
    return pieces(
        shape,
        dim,
        [_span(total, lo, hi, hi_at == len(bounds)) for hi_at, (lo, hi) in enumerate(zip(starts, stops, strict=True))],
    )


def _span(total: int | None, start: int | None, stop: int | None, last: bool) -> int | None:
    if start is None or (stop is None and not last):
        return None
    return sliced(total, start, stop, 1)


@DESCRIBED.of("tensor_split")
def _tensor_split_along(a: Arguments) -> Result:
    return _tensor_split(a, wrap(a.integer("dim", 0), len(a.shape())))


@DESCRIBED.of("hsplit")
def _hsplit(a: Arguments) -> Result:
    return _tensor_split(a, 0 if len(a.shape()) == 1 else 1)


@DESCRIBED.of("vsplit")
def _vsplit(a: Arguments) -> Result:
    return _tensor_split(a, 0)


@DESCRIBED.of("dsplit")
def _dsplit(a: Arguments) -> Result:
    return _tensor_split(a, 2)


@DESCRIBED.of("unbind")
def _unbind(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", 0), len(shape))
    total = shape[dim]
    if total is None:
        raise ShapeUnknownError
    return [without(shape, dim)] * total


@DESCRIBED.of("hstack")
def _hstack(a: Arguments) -> Result:
    shapes = [known(shape) or (1,) for shape in a.tensors()]
    return _joined(shapes, 0 if len(shapes[0]) == 1 else 1)


@DESCRIBED.of("vstack", "row_stack")
def _vstack(a: Arguments) -> Result:
    return _joined([_at_least(known(shape), 2) for shape in a.tensors()], 0)


@DESCRIBED.of("dstack")
def _dstack(a: Arguments) -> Result:
    return _joined([_at_least(known(shape), 3) for shape in a.tensors()], 2)


@DESCRIBED.of("column_stack")
def _column_stack(a: Arguments) -> Result:
    shapes = [known(shape) for shape in a.tensors()]
    return _joined([shape if len(shape) > 1 else (numel(shape), 1) for shape in shapes], 1)


def _joined(shapes: list[Sizes], dim: int) -> Result:
    total: int | None = 0
    for shape in shapes:
        here = shape[dim]
        total = None if total is None or here is None else total + here
    return with_size(shapes[0], dim, total)


def _at_least(shape: Sizes, rank: int) -> Sizes:
    """NumPy's `atleast_nd`: a vector is a row, a matrix gets a last dimension."""
    if len(shape) >= rank:
        return shape
    if not shape:
        return (1,) * rank
    if len(shape) == 1:
        return (1, shape[0], 1)[:rank] if rank > 1 else shape
    return (*shape, 1)


@DESCRIBED.of("atleast_1d")
def _atleast_1d(a: Arguments) -> Result:
    return _atleast(a, 1)


@DESCRIBED.of("atleast_2d")
def _atleast_2d(a: Arguments) -> Result:
    return _atleast(a, 2)


@DESCRIBED.of("atleast_3d")
def _atleast_3d(a: Arguments) -> Result:
    return _atleast(a, 3)


def _atleast(a: Arguments, rank: int) -> Result:
    for name in ("tensors", "self"):
        if isinstance(a.get(name), (tuple, list)) and not isinstance(a.get(name), Sized):
            return [_at_least(known(shape), rank) for shape in a.tensors(name)]
    return _at_least(a.shape("self" if "self" in a.values else "tensors"), rank)


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


@DESCRIBED.of("diagonal", "linalg_diagonal")
def _diagonal(a: Arguments) -> Result:
    over = "A" in a.values
    shape = a.shape("A" if over else "self")
    first = wrap(a.integer("dim1", -2 if over else 0), len(shape))
    second = wrap(a.integer("dim2", -1 if over else 1), len(shape))
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


@DESCRIBED.of("masked_select")
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


@DESCRIBED.of("meshgrid")
def _meshgrid(a: Arguments) -> Result:
    """With "xy" the first two dimensions change places, as in NumPy."""
    shapes = a.tensors("tensors")
    if len(shapes) == 1 and isinstance(a.get("tensors"), (tuple, list)) and shapes[0] is None:
        raise ShapeUnknownError
    sizes = [numel(shape) for shape in shapes]
    indexing = a.get("indexing")
    if indexing is not None and indexing not in ("ij", "xy"):
        raise ShapeUnknownError
    if indexing == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return [tuple(sizes)] * len(sizes)


@DESCRIBED.of("cartesian_prod")
def _cartesian_prod(a: Arguments) -> Result:
    shapes = a.tensors()
    if len(shapes) == 1:
        return shapes[0]
    rows = numel(tuple(numel(shape) for shape in shapes))
    return (rows, len(shapes))


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
    shape = a.shape("self" if "self" in a.values else "x")
    n = a.get("N")
    shape = shape or (1,)
    return (*shape, shape[-1] if n is None else size_of(n))


@DESCRIBED.of("histc")
def _histc(a: Arguments) -> Result:
    return (size_of(a.get("bins", 100)),)
