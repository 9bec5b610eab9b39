"""
Shapes of indexing, and whether its result is a view or a copy.

References
----------
`torch/csrc/autograd/python_variable_indexing.cpp`, `aten/src/ATen/TensorIndexing.h`;
https://numpy.org/doc/stable/user/basics.indexing.html#combining-advanced-and-basic-indexing
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from torchlint.knowledge.shapes.domain import COUNTS, Shape, ShapeUnknownError, Sized, Sizes, broadcast, known
from torchlint.knowledge.shapes.parts import sliced

Memory: TypeAlias = Literal["view", "copy", "unknown"]


class _Advanced:
    """The index tensors of an expression so far: their broadcast shape and where in the result they stand."""

    def __init__(self) -> None:
        self.shape: Shape = ()
        self.at: list[int] = []

    def add(self, shape: Shape, position: int) -> None:
        self.shape = broadcast(self.shape, shape)
        self.at.append(position)


def getitem(shape: Shape, index: object) -> tuple[Shape, Memory]:
    """
    What `x[index]` gives for an `x` of this shape.

    Parameters
    ----------
    shape
        The shape of `x`.
    index
        Ints, `INTEGER`, slices (parts int, None, or anything else for unknown), None, Ellipsis, bools, lists, `Sized`
        (a tensor; its `dtype` tells a mask from positions), tuples of these; anything else is unknown.

    Returns
    -------
    tuple
        The result's shape, and "view" (basic indexing; also a 0-d integer tensor, which is read as an int), "copy"
        (a list, tensor or mask), or "unknown".

    Notes
    -----
    A `uint8` tensor is a mask in torch, so its dtype class must be given as None, not as "int". A list at top level
    that holds slices, None or sequences is a tuple to some versions of torch and a tensor to others: unknown.
    """
    items = list(index) if type(index) is tuple else [index]
    memory = _memory(items, alone=type(index) is not tuple)
    if shape is None or memory == "unknown":
        return None, memory
    try:
        return _indexed(shape, items, alone=type(index) is not tuple), memory
    except ShapeUnknownError:
        return None, memory


def _is_position(item: object) -> bool:
    """An int or what torch reads as one."""
    if isinstance(item, Sized):
        return item.shape == () and item.dtype == "int"
    return item in COUNTS or (isinstance(item, int) and not isinstance(item, bool))


def _is_basic(item: object) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice) or _is_position(item)


def _is_advanced(item: object, alone: bool) -> bool:
    if isinstance(item, bool):
        return True
    if isinstance(item, Sized):
        return bool(item.shape) or item.dtype == "bool"
    if isinstance(item, (list, tuple, range)):
        return not alone or all(isinstance(one, int) or one in COUNTS for one in item)
    return False


def _memory(items: Sequence[object], alone: bool) -> Memory:
    if any(_is_advanced(item, alone) for item in items):
        return "copy"
    return "view" if all(_is_basic(item) for item in items) else "unknown"


def _consumed(item: object, alone: bool) -> int:
    """How many dimensions of `x` an index stands for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Sized) and item.dtype != "int":
        if item.dtype != "bool":
            raise ShapeUnknownError
        return len(known(item.shape))
    if not (_is_basic(item) or _is_advanced(item, alone)):
        raise ShapeUnknownError
    return 1


def _index_shape(item: object) -> Shape:
    """The shape of the position tensor that an advanced index stands for."""
    if isinstance(item, bool):
        return (int(item),)
    if isinstance(item, Sized):
        return item.shape if item.dtype == "int" else (item.trues,)
    assert isinstance(item, (list, tuple, range))
    if all(isinstance(one, bool) for one in item) and len(item):
        return (sum(map(bool, item)),)
    return _positions_shape(item)


def _positions_shape(item: Sequence[object]) -> Sizes:
    """The shape of nested lists of ints; raises `ShapeUnknownError` if anything else may be in them."""
    if all((isinstance(one, int) and not isinstance(one, bool)) or one in COUNTS for one in item):
        return (len(item),)
    first = item[0]
    if not all(isinstance(one, list) for one in item) or not isinstance(first, list):
        raise ShapeUnknownError
    return (len(item), *_positions_shape(first))


def _indexed(shape: Sizes, items: Sequence[object], alone: bool) -> Shape:
    skipped = len(shape) - sum(_consumed(item, alone) for item in items)
    if skipped < 0 or sum(item is Ellipsis for item in items) > 1:
        raise ShapeUnknownError
    rest = iter(shape)
    result: list[int | None] = []
    advanced = _Advanced()
    for item in items:
        if item is Ellipsis:
            result += [next(rest) for _ in range(skipped)]
        elif item is None:
            result.append(1)
        elif isinstance(item, slice):
            result.append(sliced(next(rest), item.start, item.stop, item.step))
        elif _is_position(item):
            next(rest)
        else:
            count = _consumed(item, alone)
            for _ in range(count):
                next(rest)
            for _ in range(max(count, 1)):
                advanced.add(_index_shape(item), len(result))
                result.append(None)
    result += rest
    return _placed(result, advanced) if advanced.at else tuple(result)


def _placed(result: list[int | None], advanced: _Advanced) -> Shape:
    """The index tensors' shape takes their place if they stand side by side, else the front."""
    if advanced.shape is None:
        return None
    others = [size for position, size in enumerate(result) if position not in advanced.at]
    first = advanced.at[0]
    side_by_side = advanced.at == list(range(first, first + len(advanced.at)))
    at = first if side_by_side else 0
    return (*others[:at], *advanced.shape, *others[at:])
