"""
Shapes of reductions, of what sorts or selects along a dimension, and of distances.

References
----------
https://docs.pytorch.org/docs/stable/torch.html#reduction-ops
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.shapes.domain import (
    COUNTS,
    Arguments,
    Description,
    Result,
    Shape,
    ShapeUnknownError,
    Sized,
    Unknown,
    broadcast,
    known,
    size_of,
    wrap,
)

DESCRIBED: Final = Description()


def reduced(shape: Shape, dims: tuple[int, ...] | None, keepdim: bool | None) -> Shape:
    """`shape` without `dims` (None: all), or with 1 there. `ShapeUnknownError` if `keepdim` is unknown."""
    if keepdim is None:
        raise ShapeUnknownError
    if shape is None:
        if dims is None and not keepdim:
            return ()
        return None
    if dims is None:
        return (1,) * len(shape) if keepdim else ()
    if keepdim:
        return tuple(1 if axis in dims else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in dims)


def _rank(a: Arguments) -> int:
    return len(a.shape())


@DESCRIBED.of(
    "sum", "mean", "nansum", "nanmean", "prod", "all", "any", "amax", "amin", "logsumexp", "special_logsumexp", "norm",
    "std", "var", "argmax", "argmin", "count_nonzero", "linalg_vector_norm", "hash_tensor",
)  # fmt: skip
def _reduction(a: Arguments) -> Result:
    keepdim, dim = a.flag("keepdim"), a.get("dim")
    if dim is None:
        return reduced(a.operand(), None, keepdim)
    if isinstance(dim, Unknown) and keepdim:
        return (None,) * _rank(a)
    if dim in COUNTS:
        return (None,) * max(_rank(a) - 1, 0)
    return reduced(a.shape(), a.dims("dim", _rank(a)), keepdim)


@DESCRIBED.of("std_mean", "var_mean", "aminmax")
def _two_reductions(a: Arguments) -> Result:
    shape = reduced(a.operand(), a.dims("dim", _rank(a)) if a.get("dim") is not None else None, a.flag("keepdim"))
    return [shape, shape]


@DESCRIBED.of("max", "min")
def _extremum(a: Arguments) -> Result:
    """Three functions in one: of all, along `dim` (values and indices), and of two tensors."""
    other = a.get("other")
    if isinstance(other, Sized):
        return broadcast(a.operand(), other.shape)
    if isinstance(other, Unknown) or isinstance(a.get("dim"), Unknown):
        raise ShapeUnknownError
    if a.get("dim") is None:
        return ()
    shape = reduced(a.shape(), a.dims("dim", _rank(a)), a.flag("keepdim"))
    return [shape, shape]


@DESCRIBED.of("median", "nanmedian")
def _median(a: Arguments) -> Result:
    if a.get("dim") is None:
        return ()
    shape = reduced(a.shape(), a.dims("dim", _rank(a)), a.flag("keepdim"))
    return [shape, shape]


@DESCRIBED.of("mode", "kthvalue")
def _along_last(a: Arguments) -> Result:
    shape = reduced(a.shape(), (wrap(a.integer("dim", -1), _rank(a)),), a.flag("keepdim"))
    return [shape, shape]


@DESCRIBED.of("quantile", "nanquantile")
def _quantile(a: Arguments) -> Result:
    shape = reduced(a.operand(), a.dims("dim", _rank(a)) if a.get("dim") is not None else None, a.flag("keepdim"))
    q = a.operand("q")
    return None if q is None or shape is None else (*q, *shape)


@DESCRIBED.of("linalg_norm", "linalg_matrix_norm")
def _matrix_norm(a: Arguments) -> Result:
    shape = a.shape()
    rank = len(shape)
    if a.get("dim") is not None:
        return reduced(shape, a.dims("dim", rank), a.flag("keepdim"))
    if "ord" not in a.values or a.get("ord") is None or rank <= 2:
        return reduced(shape, None, a.flag("keepdim"))
    return reduced(shape, (rank - 2, rank - 1), a.flag("keepdim"))


@DESCRIBED.of("sort")
def _sort(a: Arguments) -> Result:
    return [a.operand(), a.operand()]


@DESCRIBED.of("argsort", "msort")
def _argsort(a: Arguments) -> Result:
    return a.operand()


@DESCRIBED.of("topk")
def _topk(a: Arguments) -> Result:
    sizes = list(a.shape())
    if sizes:
        sizes[wrap(a.integer("dim", -1), len(sizes))] = size_of(a.get("k"))
    return [tuple(sizes)] * 2


@DESCRIBED.of("diff")
def _diff(a: Arguments) -> Result:
    sizes = list(a.shape())
    dim = wrap(a.integer("dim", -1), len(sizes))
    total = sizes[dim]
    for extra in ("prepend", "append"):
        if a.given(extra):
            along = a.shape(extra)
            more = along[dim] if len(along) == len(sizes) else 1
            total = None if total is None or more is None else total + more
    sizes[dim] = None if total is None else max(total - a.integer("n", 1), 0)
    return tuple(sizes)


@DESCRIBED.of("trapezoid", "trapz")
def _trapezoid(a: Arguments) -> Result:
    shape = a.shape("y")
    return reduced(shape, (wrap(a.integer("dim", -1), len(shape)),), False)


@DESCRIBED.of("trace", "dot", "vdot", "dist", "equal", "allclose", "is_same_size", "is_nonzero")
def _scalar(a: Arguments) -> Result:
    return ()


@DESCRIBED.of("cumulative_trapezoid")
def _cumulative_trapezoid(a: Arguments) -> Result:
    sizes = list(a.shape("y"))
    dim = wrap(a.integer("dim", -1), len(sizes))
    size = sizes[dim]
    sizes[dim] = None if size is None else size - 1
    return tuple(sizes)


@DESCRIBED.of("histogram")
def _histogram(a: Arguments) -> Result:
    bins = a.get("bins")
    if isinstance(bins, Sized):
        edges = bins.shape
        count = None if edges is None or edges[0] is None else edges[0] - 1
    else:
        count = size_of(bins)
    return [(count,), (None if count is None else count + 1,)]


@DESCRIBED.of("cdist")
def _cdist(a: Arguments) -> Result:
    left, right = a.shape("self"), a.shape("other")
    batch = broadcast(left[:-2], right[:-2])
    return None if batch is None else (*batch, left[-2], right[-2])


@DESCRIBED.of("pairwise_distance")
def _pairwise_distance(a: Arguments) -> Result:
    shape = broadcast(a.operand("self"), a.operand("other"))
    return None if shape is None else (*shape[:-1], 1) if a.flag("keepdim") else shape[:-1]


@DESCRIBED.of("cosine_similarity")
def _cosine_similarity(a: Arguments) -> Result:
    shape = known(broadcast(a.operand("self"), a.operand("other")))
    dim = wrap(a.integer("dim", 1), len(shape))
    return tuple(size for axis, size in enumerate(shape) if axis != dim)


@DESCRIBED.of("pdist")
def _pdist(a: Arguments) -> Result:
    rows = a.shape()[0]
    return (None if rows is None else rows * (rows - 1) // 2,)
