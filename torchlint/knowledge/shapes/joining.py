"""
Shapes of splitting and joining, and of the grids and products of several vectors.

References
----------
https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from __future__ import annotations

import math
from typing import Final

from torchlint.knowledge.shapes.domain import (
    COUNTS,
    Arguments,
    Description,
    Result,
    ShapeUnknownError,
    Sized,
    Sizes,
    known,
    numel,
    size_of,
    sizes_of,
    wrap,
)
from torchlint.knowledge.shapes.parts import sliced, with_size, without

DESCRIBED: Final = Description()
MOST_PIECES: Final = 1024
"""More pieces than a program can name one by one are not counted."""
_BITS: Final = 64


def pieces(shape: Sizes, dim: int, sizes: list[int | None]) -> Result:
    """One shape per piece."""
    return [with_size(shape, dim, size) for size in sizes]


def _few(count: int) -> int:
    """A number of pieces. Raises `ShapeUnknownError` if it is above `MOST_PIECES`."""
    if count > MOST_PIECES:
        raise ShapeUnknownError
    return count


def _cut(shape: Sizes, dim: int, total: int, step: int) -> Result:
    """Pieces of `step`, the last one of what is left."""
    count = _few(-(-total // step))
    return pieces(shape, dim, [min(step, total - piece * step) for piece in range(count)])


@DESCRIBED.of("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes")
def _split(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", 0), len(shape))
    step = a.first("split_size", "split_size_or_sections", "split_sizes")
    if step in COUNTS:
        raise ShapeUnknownError
    if not isinstance(step, int):
        return pieces(shape, dim, list(sizes_of(step)))
    total = shape[dim]
    if total is None:
        raise ShapeUnknownError
    if step == 0 or total == 0:
        return pieces(shape, dim, [total])
    return _cut(shape, dim, total, step)


@DESCRIBED.of("chunk", "unsafe_chunk")
def _chunk(a: Arguments) -> Result:
    shape = a.shape()
    dim = wrap(a.integer("dim", 0), len(shape))
    total, chunks = shape[dim], a.integer("chunks")
    if total is None or chunks < 1:
        raise ShapeUnknownError
    if total == 0:
        return pieces(shape, dim, [0] * _few(chunks))
    return _cut(shape, dim, total, -(-total // chunks))


def _tensor_split(a: Arguments, dim: int) -> Result:
    shape = a.shape()
    total = shape[dim]
    at = a.first("indices_or_sections", "sections", "indices", "tensor_indices_or_sections")
    if isinstance(at, int):
        if total is None:
            return pieces(shape, dim, [None] * _few(at))
        return pieces(shape, dim, [total // at + (part < total % at) for part in range(_few(at))])
    if at in COUNTS:
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
    return [without(shape, dim)] * _few(total)


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


@DESCRIBED.of("combinations")
def _combinations(a: Arguments) -> Result:
    (size,) = a.shape()
    r = a.integer("r", 2)
    if size is None:
        return (None, r)
    among = size + r - 1 if a.flag("with_replacement") else size
    if min(r, among - r) >= _BITS:
        raise ShapeUnknownError  # 2 ** r at least
    return (size_of(math.comb(among, r)), r)


@DESCRIBED.of("cat", "concat", "concatenate")
def _cat(a: Arguments) -> Result:
    """The legacy exception: a 1-d tensor without elements may join tensors of any rank and adds nothing."""
    shapes = a.tensors()
    if any(shape == (None,) for shape in shapes) and any(shape is None or len(shape) != 1 for shape in shapes):
        raise ShapeUnknownError
    parts = [shape for shape in shapes if shape != (0,)]
    ranks = {len(shape) for shape in parts if shape is not None}
    if not parts:
        return (0,)
    if len(ranks) != 1 or (None in parts and None in ranks):
        raise ShapeUnknownError
    rank = ranks.pop()
    dim = wrap(a.integer("dim", 0), rank)
    result: list[int | None] = [None] * rank
    total: int | None = 0
    for shape in parts:
        here = shape if shape is not None else (None,) * rank
        along = here[dim]
        total = None if total is None or along is None else total + along
        result = [have if have is not None else size for have, size in zip(result, here, strict=True)]
    result[dim] = total
    return tuple(result)


@DESCRIBED.of("stack")
def _stack(a: Arguments) -> Result:
    shapes = a.tensors()
    have = [shape for shape in shapes if shape is not None]
    if not have:
        raise ShapeUnknownError
    merged = list(have[0])
    for shape in have[1:]:
        merged = [size if size is not None else other for size, other in zip(merged, shape, strict=True)]
    dim = wrap(a.integer("dim", 0), len(merged) + 1)
    return (*merged[:dim], len(shapes), *merged[dim:])


@DESCRIBED.of("block_diag")
def _block_diag(a: Arguments) -> Result:
    rows: int | None = 0
    columns: int | None = 0
    for shape in a.tensors():
        m, n = ((1, 1), (1, *known(shape)), known(shape))[min(len(known(shape)), 2)]
        rows = None if rows is None or m is None else rows + m
        columns = None if columns is None or n is None else columns + n
    return (rows, columns)
