"""
Strides of what an operation gives, from shapes and strides of its arguments: whether `reshape` must copy.

Only tensors all of whose sizes are known and none is 0; views, and elementwise operations, whose results keep the
order of their inputs' strides. Never imports torch and never guesses: what is not surely known is None.

References
----------
`aten/src/ATen/TensorUtils.cpp` (computeStride_impl), `aten/src/ATen/TensorIterator.cpp` (reorder_dimensions),
`c10/core/Contiguity.h`. Checked against running torch in `tests/knowledge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from torchlint.knowledge.shapes.contiguity import order_of
from torchlint.knowledge.shapes.domain import Arguments, Shape, ShapeUnknownError, Sized, wrap
from torchlint.knowledge.shapes.pointwise import BINARY, OPERANDS, POINTWISE_UNARY

Strides: TypeAlias = "tuple[int, ...]"
Known: TypeAlias = "tuple[int, ...]"

_REVIEWED: Final = frozenset(
    {"view", "reshape", "flatten", "ravel", "unflatten", "squeeze", "unsqueeze", "view_as", "reshape_as"}
)
_SAME: Final = frozenset({"alias", "detach", "narrow", "split", "split_with_sizes", "chunk", "tensor_split"})
_LOSSES: Final = ("mse_loss", "smooth_l1_loss", "huber_loss")
_ELEMENTWISE: Final = frozenset({*POINTWISE_UNARY.split(), *BINARY.split(), *OPERANDS, *_LOSSES, "where", "clone"}) - {
    # functions of Python, or kernels that lay their result out by themselves
    *("celu", "gelu", "prelu", "rrelu", "logsigmoid", "log_sigmoid", "mvlgamma", "softsign", "tanhshrink", "mish"),
    *("masked_fill", "masked_scatter", "ormqr", "heaviside", "selu", "relu6"),
}


def sizes(shape: Shape) -> Known | None:
    """A shape none of whose sizes is unknown."""
    return None if shape is None or None in shape else tuple(size for size in shape if size is not None)


def dense(shape: Sequence[int]) -> Strides:
    """The strides of contiguous memory."""
    found: list[int] = []
    step = 1
    for size in reversed(shape):
        found.append(step)
        step *= max(size, 1)
    return tuple(reversed(found))


def is_contiguous(shape: Sequence[int], strides: Strides) -> bool:
    """As `Tensor.is_contiguous()`: strides of dimensions of size 1 do not count."""
    return 0 in shape or all(
        size == 1 or have == wanted for size, have, wanted in zip(shape, strides, dense(shape), strict=True)
    )


def reviewed(shape: Known, strides: Strides, wanted: Known) -> Strides | None:
    """The strides under which the same memory has another shape; None if there are none and `reshape` copies."""
    found = [0] * len(wanted)
    place = len(wanted) - 1
    step = strides[-1] if strides else 1
    elements = taken = 1
    for axis in range(len(shape) - 1, -1, -1):
        elements *= shape[axis]
        if axis and (shape[axis - 1] == 1 or strides[axis - 1] == elements * step):
            continue
        while place >= 0 and (taken < elements or wanted[place] == 1):
            found[place] = taken * step
            taken *= wanted[place]
            place -= 1
        if taken != elements:
            return None
        if axis:
            step = strides[axis - 1]
            elements = taken = 1
    if not shape:
        return dense(wanted)
    return tuple(found) if place < 0 else None


def viewed(name: str, arguments: Mapping[str, object], strides: Strides, result: Shape) -> Strides | None:
    """
    The strides of what a view operation gives.

    Parameters
    ----------
    name
        Base name of the operation (`transpose`, `select`, …) or `getitem` (arguments `self` and `index`).
    arguments
        As in `shapes.infer`.
    strides
        Those of `self`.
    result
        The shape of the result.

    Returns
    -------
    tuple of int or None
        For an operation with several results they hold for each of them. None if unknown.
    """
    try:
        a = Arguments(arguments)
        shape, wanted = sizes(a.shape()), sizes(result)
        if shape is None or wanted is None or 0 in shape or 0 in wanted:
            return None
        if all(size == 1 for size in wanted):
            return dense(wanted)
        found = _viewed(name, a, shape, strides, wanted)
    except (ShapeUnknownError, IndexError, ValueError, TypeError, ArithmeticError):
        return None
    return found if found is not None and len(found) == len(wanted) else None


def _viewed(name: str, a: Arguments, shape: Known, strides: Strides, wanted: Known) -> Strides | None:
    if name in _REVIEWED:
        return reviewed(shape, strides, wanted)
    if name in _SAME:
        return strides
    if name in ("select", "unbind"):
        dim = wrap(a.integer("dim", 0 if name == "unbind" else None), len(shape))
        return strides[:dim] + strides[dim + 1 :]
    if name in ("expand", "expand_as", "broadcast_to"):
        added = len(wanted) - len(shape)
        pairs = zip(strides, shape, wanted[added:], strict=True)
        return (0,) * added + tuple(stride if have == size else 0 for stride, have, size in pairs)
    if name == "diagonal":
        first, second = (wrap(a.integer(one, place), len(shape)) for one, place in (("dim1", 0), ("dim2", 1)))
        rest = tuple(stride for axis, stride in enumerate(strides) if axis not in (first, second))
        return (*rest, strides[first] + strides[second])
    if name == "unfold":
        dim = wrap(a.integer("dimension"), len(shape))
        return (*strides[:dim], strides[dim] * a.integer("step"), *strides[dim + 1 :], strides[dim])
    if name == "getitem":
        index = a.get("index")
        return _indexed(shape, strides, list(index) if type(index) is tuple else [index])
    order = order_of(name, shape, a)
    return None if order is None else tuple(strides[axis] for axis in order)


def _indexed(shape: Known, strides: Strides, items: list[object]) -> Strides:
    """Raises `ShapeUnknownError` unless all of the indexing is basic."""
    counted = sum(item is not None and item is not Ellipsis for item in items)
    found: list[int] = []
    axis = 0
    for item in items:
        if item is None:
            found.append(shape[axis] * strides[axis] if axis < len(shape) else 1)
        elif item is Ellipsis:
            found += strides[axis : axis + len(shape) - counted]
            axis += len(shape) - counted
        elif isinstance(item, slice):
            step = 1 if item.step is None else item.step
            if not isinstance(step, int):
                raise ShapeUnknownError
            found.append(strides[axis] * step)
            axis += 1
        elif (isinstance(item, int) and not isinstance(item, bool)) or item == Sized((), "int"):
            axis += 1
        else:
            raise ShapeUnknownError
    return (*found, *strides[axis:])


def is_elementwise(name: str) -> bool:
    """Whether an operation computes a tensor element by element, by its base name."""
    return name in _ELEMENTWISE


def elementwise(name: str, operands: Sequence[tuple[Shape, Strides | None]], result: Shape) -> Strides | None:
    """
    The strides of a new tensor computed element by element: dimensions in the order of the operands' strides.

    Parameters
    ----------
    name
        Base name of the operation.
    operands
        Shape and strides of each tensor that goes in, in the order of torch's signature; not of Python numbers.
    result
        The shape of the result.
    """
    wanted = sizes(result)
    if name not in _ELEMENTWISE or wanted is None or 0 in wanted:
        return None
    rank = len(wanted)
    steps: list[Strides] = []
    for operand, strides in operands:
        shape = sizes(operand)
        if shape is None or strides is None or len(shape) > rank:
            return None
        added = rank - len(shape)
        own = (0 if size == 1 and wanted[added + axis] != 1 else strides[axis] for axis, size in enumerate(shape))
        steps.append((0,) * added + tuple(own))
    order = list(range(rank - 1, -1, -1))
    for start in range(1, rank):
        moving = start
        for place in range(start - 1, -1, -1):
            verdict = _later(order[place], order[moving], steps, wanted)
            if verdict > 0:
                order[place], order[moving] = order[moving], order[place]
                moving = place
            elif verdict < 0:
                break
    found = [0] * rank
    step = 1
    for axis in order:
        found[axis] = step
        step *= max(wanted[axis], 1)
    return tuple(found)


def _later(first: int, second: int, steps: list[Strides], shape: Known) -> int:
    """Whether the first dimension is to come after the second one, counted from the innermost."""
    for strides in steps:
        one, other = strides[first], strides[second]
        if one == 0 or other == 0:
            continue
        if one != other:
            return -1 if one < other else 1
        if shape[first] > shape[second]:
            return 1
    return 0
