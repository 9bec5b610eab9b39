"""
Shapes of products of matrices and of linear algebra.

References
----------
https://docs.pytorch.org/docs/stable/generated/torch.matmul.html, https://docs.pytorch.org/docs/stable/linalg.html
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.shapes.domain import (
    Arguments,
    Description,
    Result,
    Shape,
    ShapeUnknownError,
    Sizes,
    broadcast,
    known,
    sizes_of,
    wrap,
)

DESCRIBED: Final = Description()


def matmul(left: Shape, right: Shape) -> Shape:
    """The shape of `left @ right`. Raises `ShapeUnknownError` for an operand without dimensions."""
    first, second = known(left), known(right)
    if not first or not second:
        raise ShapeUnknownError
    if len(first) == 1 and len(second) == 1:
        return ()
    if len(first) == 1:
        return (*second[:-2], second[-1])
    if len(second) == 1:
        return first[:-1]
    batch = broadcast(first[:-2], second[:-2])
    return None if batch is None else (*batch, first[-2], second[-1])


@DESCRIBED.of("matmul", "__matmul__", "linalg_matmul")
def _matmul(a: Arguments) -> Result:
    return matmul(a.operand(), a.operand("other"))


@DESCRIBED.of("__rmatmul__")
def _reflected_matmul(a: Arguments) -> Result:
    return matmul(a.operand("other"), a.operand())


@DESCRIBED.of("mm", "bmm")
def _mm(a: Arguments) -> Result:
    return matmul(a.operand(), a.operand("mat2"))


@DESCRIBED.of("mv")
def _mv(a: Arguments) -> Result:
    return matmul(a.operand(), a.operand("vec"))


@DESCRIBED.of("outer", "ger")
def _outer(a: Arguments) -> Result:
    return (_first(a.shape()), _first(a.shape("vec2")))


def _first(shape: Sizes) -> int | None:
    if len(shape) != 1:
        raise ShapeUnknownError
    return shape[0]


@DESCRIBED.of("inner")
def _inner(a: Arguments) -> Result:
    left, right = a.shape(), a.shape("other")
    if not left or not right:
        return left or right
    return (*left[:-1], *right[:-1])


@DESCRIBED.of("addmm", "sspaddmm")
def _addmm(a: Arguments) -> Result:
    """The product's shape alone: `self` broadcasts to it, never the product to `self`; so in its relatives."""
    return matmul(a.operand("mat1"), a.operand("mat2"))


@DESCRIBED.of("addmv")
def _addmv(a: Arguments) -> Result:
    return matmul(a.operand("mat"), a.operand("vec"))


@DESCRIBED.of("addr")
def _addr(a: Arguments) -> Result:
    return (_first(a.shape("vec1")), _first(a.shape("vec2")))


@DESCRIBED.of("baddbmm")
def _baddbmm(a: Arguments) -> Result:
    return matmul(a.operand("batch1"), a.operand("batch2"))


@DESCRIBED.of("addbmm")
def _addbmm(a: Arguments) -> Result:
    product = known(matmul(a.operand("batch1"), a.operand("batch2")))
    return product[1:]


@DESCRIBED.of("linear")
def _linear(a: Arguments) -> Result:
    shape, weight = a.shape(), a.shape("weight")
    return shape[:-1] if len(weight) == 1 else (*shape[:-1], weight[0])


@DESCRIBED.of("bilinear")
def _bilinear(a: Arguments) -> Result:
    batch = broadcast(a.shape("input1")[:-1], a.shape("input2")[:-1])
    return None if batch is None else (*batch, a.shape("weight")[0])


@DESCRIBED.of("einsum")
def _einsum(a: Arguments) -> Result:
    equation = a.text("equation", "").replace(" ", "")
    operands = a.tensors("operands" if "operands" in a.values else "tensors")
    left, arrow, output = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ShapeUnknownError
    sizes: dict[str, int | None] = {}
    batch: Shape = ()
    for term, operand in zip(terms, operands, strict=True):
        shape = known(operand)
        before, dots, after = term.partition("...")
        extra = len(shape) - len(before) - len(after)
        if extra < 0 or (extra and not dots):
            raise ShapeUnknownError
        batch = broadcast(batch, shape[len(before) : len(before) + extra])
        labels = [*zip(before, shape, strict=False), *zip(after, shape[len(shape) - len(after) :], strict=True)]
        for label, size in labels:
            if sizes.get(label) in (None, 1):
                sizes[label] = size if size is not None else sizes.get(label)
                if size is None and label in sizes and sizes[label] == 1:
                    sizes[label] = None
    if batch is None:
        return None
    if not arrow:
        once = sorted(label for label in sizes if left.count(label) == 1)
        return (*batch, *(sizes[label] for label in once))
    before, dots, after = output.partition("...")
    if any(label not in sizes for label in before + after):
        raise ShapeUnknownError
    return (*(sizes[c] for c in before), *(batch if dots else ()), *(sizes[c] for c in after))


@DESCRIBED.of("tensordot")
def _tensordot(a: Arguments) -> Result:
    left, right, dims = a.shape("a" if "a" in a.values else "self"), a.shape("b" if "b" in a.values else "other"), None
    if "dims_self" in a.values:
        dims = (a.get("dims_self"), a.get("dims_other"))
    else:
        given = a.get("dims", 2)
        if isinstance(given, int):
            return (*left[: len(left) - given], *right[given:])
        if isinstance(given, (tuple, list)) and len(given) == 2:
            dims = (given[0], given[1])
    if dims is None:
        raise ShapeUnknownError
    drop_left, drop_right = (
        {wrap(_whole(d), len(s)) for d in sizes_of(ds)} for ds, s in zip(dims, (left, right), strict=True)
    )
    return (
        *(size for axis, size in enumerate(left) if axis not in drop_left),
        *(size for axis, size in enumerate(right) if axis not in drop_right),
    )


def _whole(value: int | None) -> int:
    if value is None:
        raise ShapeUnknownError
    return value


@DESCRIBED.of("kron")
def _kron(a: Arguments) -> Result:
    left, right = a.shape(), a.shape("other")
    rank = max(len(left), len(right))
    padded = ((1,) * (rank - len(s)) + s for s in (left, right))
    return tuple(None if m is None or n is None else m * n for m, n in zip(*padded, strict=True))


@DESCRIBED.of("cross", "linalg_cross")
def _cross(a: Arguments) -> Result:
    return broadcast(a.operand(), a.operand("other"))


def _matrix(a: Arguments) -> tuple[Sizes, int | None, int | None]:
    shape = a.shape()
    if len(shape) < 2:
        raise ShapeUnknownError
    return shape[:-2], shape[-2], shape[-1]


def _least(m: int | None, n: int | None) -> int | None:
    return None if m is None or n is None else min(m, n)


@DESCRIBED.of("det", "linalg_det", "logdet", "linalg_matrix_rank", "linalg_cond")
def _per_matrix(a: Arguments) -> Result:
    return _matrix(a)[0]


@DESCRIBED.of("slogdet", "linalg_slogdet")
def _slogdet(a: Arguments) -> Result:
    return [_matrix(a)[0]] * 2


@DESCRIBED.of("linalg_eigh", "linalg_eig")
def _eigh(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    return [(*batch, n), (*batch, m, n)]


@DESCRIBED.of("linalg_eigvalsh", "linalg_eigvals")
def _eigenvalues(a: Arguments) -> Result:
    batch, _, n = _matrix(a)
    return (*batch, n)


@DESCRIBED.of("linalg_svdvals")
def _svdvals(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    return (*batch, _least(m, n))


@DESCRIBED.of("linalg_svd")
def _linalg_svd(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    k, full = _least(m, n), a.flag("full_matrices", True)
    return [(*batch, m, m if full else k), (*batch, k), (*batch, n if full else k, n)]


@DESCRIBED.of("svd")
def _svd(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    k, reduced = _least(m, n), a.flag("some", True)
    return [(*batch, m, k if reduced else m), (*batch, k), (*batch, n, k if reduced else n)]


@DESCRIBED.of("linalg_cholesky_ex", "linalg_inv_ex")
def _checked(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    return [(*batch, m, n), batch]


@DESCRIBED.of("linalg_lu")
def _lu(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    k = _least(m, n)
    pivot: Shape = (*batch, m, m) if a.flag("pivot", True) else (0,)
    return [pivot, (*batch, m, k), (*batch, k, n)]


@DESCRIBED.of("linalg_lu_factor")
def _lu_factor(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    return [(*batch, m, n), (*batch, _least(m, n))]


@DESCRIBED.of("linalg_lu_factor_ex")
def _lu_factor_ex(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    return [(*batch, m, n), (*batch, _least(m, n)), batch]


@DESCRIBED.of("linalg_vecdot")
def _vecdot(a: Arguments) -> Result:
    shape = known(broadcast(a.operand("self"), a.operand("y")))
    dim = wrap(a.integer("dim", -1), len(shape))
    return tuple(size for axis, size in enumerate(shape) if axis != dim)


@DESCRIBED.of("linalg_qr", "qr")
def _qr(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    mode = a.text("mode", "reduced" if a.flag("some", True) else "complete")
    k = m if mode == "complete" else _least(m, n)
    return [(0,) if mode == "r" else (*batch, m, k), (*batch, k, n)]


@DESCRIBED.of("linalg_pinv", "pinverse")
def _pinv(a: Arguments) -> Result:
    batch, m, n = _matrix(a)
    return (*batch, n, m)


@DESCRIBED.of("linalg_solve_ex")
def _solve_ex(a: Arguments) -> Result:
    return [_solved(a), _matrix(a)[0]]


@DESCRIBED.of("linalg_solve")
def _solve(a: Arguments) -> Result:
    return _solved(a)


@DESCRIBED.of("linalg_lstsq")
def _lstsq(a: Arguments) -> Result:
    """The solution has a row for each column of the matrix; what comes with it is empty or not, by its driver."""
    batch, _, n = _matrix(a)
    right = a.shape("b")
    return [(*batch, n, right[-1]) if len(right) == len(batch) + 2 else None, None, None, None]


@DESCRIBED.of("linalg_lu_solve")
def _linalg_lu_solve(a: Arguments) -> Result:
    left, right = a.shape("LU"), a.shape("B")
    batch = broadcast(left[:-2], right[:-2])
    return None if batch is None else (*batch, *right[-2:])


@DESCRIBED.of("triangular_solve")
def _triangular_solve(a: Arguments) -> Result:
    """`self` is the right side here; the second result is a copy of the matrix `A`."""
    right, matrix = a.shape(), a.shape("A")
    batch = broadcast(right[:-2], matrix[:-2])
    return [None, None] if batch is None else [(*batch, *right[-2:]), (*batch, *matrix[-2:])]


def _solved(a: Arguments) -> Shape:
    """`B` is a batch of vectors if it is 1-d or has exactly the shape of `A` less one dimension, else of matrices."""
    batch, _, n = _matrix(a)
    right = a.shape("B")
    if not a.flag("left", True):
        raise ShapeUnknownError
    if len(right) == 1:
        return (*batch, n)
    if len(right) == len(batch) + 1:
        if None in right or None in batch:
            raise ShapeUnknownError
        if right[:-1] == batch:
            return right
    both = broadcast(batch, right[:-2])
    return None if both is None else (*both, *right[-2:])


@DESCRIBED.of("cholesky_solve")
def _cholesky_solve(a: Arguments) -> Result:
    right, factor = a.shape(), a.shape("input2")
    batch = broadcast(right[:-2], factor[:-2])
    return None if batch is None else (*batch, *right[-2:])


@DESCRIBED.of("linalg_solve_triangular")
def _solve_triangular(a: Arguments) -> Result:
    batch, _, _ = _matrix(a)
    right = a.shape("B")
    both = broadcast(batch, right[:-2])
    return None if both is None else (*both, *right[-2:])


@DESCRIBED.of("linalg_multi_dot", "chain_matmul")
def _multi_dot(a: Arguments) -> Result:
    shapes = a.tensors("tensors" if "tensors" in a.values else "matrices")
    if len(shapes) < 2:
        raise ShapeUnknownError
    product = shapes[0]
    for shape in shapes[1:]:
        product = matmul(product, shape)
    return product


@DESCRIBED.of("scaled_dot_product_attention")
def _attention(a: Arguments) -> Result:
    query, value = a.shape("query"), a.shape("value")
    return (*query[:-1], value[-1])
