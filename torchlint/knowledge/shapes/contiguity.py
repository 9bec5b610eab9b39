"""
Whether a view of contiguous memory is contiguous: what `reshape` needs to give a view, and `view` to work at all.

Only the view operations; never imports torch and never guesses.

References
----------
https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_contiguous.html;
`c10/core/Contiguity.h`: strides of dimensions of size 1 do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from torchlint.knowledge.shapes.domain import (
    COUNTS,
    Arguments,
    ShapeUnknownError,
    Sized,
    Sizes,
    size_of,
    sizes_of,
    wrap,
)
from torchlint.knowledge.shapes.parts import sliced

_ALWAYS: Final = frozenset(
    {"alias", "clone", "contiguous", "detach", "flatten", "ravel", "reshape", "reshape_as", "squeeze", "unflatten"}
    | {"unsqueeze", "view", "view_as", "view_as_real"}
)

_OF_A_RANGE: Final = frozenset({"slice", "narrow", "split", "split_with_sizes", "chunk", "tensor_split"})


class _Kept(NamedTuple):
    """
    One dimension of the input after slicing: whether all of it is there, whether more than one, whether step 1, and
    whether a number has chosen one, so that the result has no such dimension.
    """

    whole: bool | None
    many: bool | None
    dense: bool | None = True
    gone: bool = False


def contiguous_after(name: str, arguments: Mapping[str, object]) -> bool | None:
    """
    Whether the result of this operation is contiguous if its input is.

    Parameters
    ----------
    name
        Base name of a view operation (`transpose`, `select`, …) or `getitem` (arguments `self` and `index`).
    arguments
        As in `shapes.infer`.

    Returns
    -------
    bool or None
        For an operation with several results it holds for each of them. None if unknown, and for every operation that
        is not described. Tensors are taken not to be empty.
    """
    if name in _ALWAYS:
        return True
    try:
        a = Arguments(arguments)
        shape = a.shape()
        if name == "getitem":
            return _sliced(_kept_by_index(shape, _items(a.get("index"))))
        if name in ("expand", "broadcast_to"):
            return _expanded(shape, a.sizes("size", "shape"))
        if name in ("expand_as",):
            return _expanded(shape, a.shape("other"))
        if name in ("select", "slice", "narrow", "split", "split_with_sizes", "chunk", "tensor_split", "unbind"):
            return _sliced(_kept_by_dim(name, shape, a))
        order = order_of(name, shape, a)
    except (ShapeUnknownError, IndexError, ValueError, TypeError, ArithmeticError):
        return None
    return None if order is None else _ordered(shape, order)


def order_of(name: str, shape: Sizes, a: Arguments) -> list[int] | None:
    """For an exchange of dimensions: which dimension of the input stands where in the result."""
    rank = len(shape)
    order = list(range(rank))
    if name in ("transpose", "swapaxes", "swapdims"):
        names = ("dim0", "dim1") if "dim0" in a.values else ("axis0", "axis1")
        first, second = (wrap(a.integer(one), rank) for one in names)
        order[first], order[second] = second, first
    elif name in ("t", "T", "H", "numpy_T"):
        order.reverse()
    elif name in ("mT", "mH", "adjoint"):
        order[-1], order[-2] = order[-2], order[-1]
    elif name == "permute":
        dims = a.sizes("dims", "dim")
        if None in dims:
            raise ShapeUnknownError
        order = [wrap(dim, rank) for dim in dims if dim is not None]
    elif name in ("movedim", "moveaxis"):
        source, target = (
            [wrap(dim, rank) for dim in sizes_of(a.get(one)) if dim is not None] for one in ("source", "destination")
        )
        placed = dict(zip(target, source, strict=True))
        rest = iter(axis for axis in range(rank) if axis not in source)
        order = [placed[axis] if axis in placed else next(rest) for axis in range(rank)]
    else:
        return None
    return order


def order_after(
    name: str, arguments: Mapping[str, object], order: Sequence[int], rank: int | None
) -> tuple[int, ...] | None:
    """
    The dimensions of a view from the largest stride to the smallest, given those of its input.

    Parameters
    ----------
    name, arguments
        As in `contiguous_after`.
    order
        The dimensions of the input, the one with the largest stride first.
    rank
        How many dimensions the view has, if that is known.

    Returns
    -------
    tuple of int or None
        For an operation with several results it holds for each of them. None if unknown.
    """
    shape: Sizes = (None,) * len(order)
    try:
        a = Arguments({**arguments, "self": Sized(shape, None)})
        moved = order_of(name, shape, a)
        if moved is not None:
            return tuple(moved.index(axis) for axis in order)
        if name in _OF_A_RANGE:
            return tuple(order)
        index = a.get("index") if name == "getitem" else None
        if index is not None and _may_be_all(index):
            return tuple(order)
        if name in ("select", "unbind"):
            gone = wrap(a.integer("dim", 0 if name == "unbind" else None), len(order))
        elif index is not None and (index in COUNTS or type(index) is int):
            gone = 0
        elif name in _ALWAYS and rank is not None and list(order) == list(range(len(order))):
            return tuple(range(rank))
        else:
            return None
    except (ShapeUnknownError, IndexError, ValueError, TypeError, ArithmeticError):
        return None
    return tuple(axis - (axis > gone) for axis in order if axis != gone)


def gaps_after(
    name: str, arguments: Mapping[str, object], gaps: frozenset[int], had: int | None, rank: int | None
) -> frozenset[int] | None:
    """
    Between which neighbours among the dimensions of a view there may be a gap in memory, given those of its input.

    Two neighbours without a gap can be one dimension: their strides are `s * n` and `s`, with `n` elements of the
    second. A contiguous tensor has no gaps, however many dimensions it has.

    Parameters
    ----------
    name, arguments
        As in `contiguous_after`.
    gaps
        Of the input: 0 is the one between the first two dimensions.
    had, rank
        How many dimensions the input and the view have, if that is known.

    Returns
    -------
    frozenset of int or None
        For an operation with several results it holds for each of them. None if unknown.
    """
    try:
        a = Arguments({**arguments, "self": Sized(None if had is None else (None,) * had, None)})
        if name == "slice" and a.get("step", 1) not in (None, 1):
            return None
        if name in _OF_A_RANGE:
            at = _place(a.integer("dim", None if name == "narrow" else 0), had)
            return gaps | {at - 1} if at else gaps
        if name in ("select", "unbind"):
            gone = _place(a.integer("dim", 0 if name == "unbind" else None), had)
            left = {gap - (gap >= gone) for gap in gaps if gap not in (gone - 1, gone)}
            return frozenset(left | ({gone - 1} if gone else set()))
        if name == "unflatten":
            split = _place(a.integer("dim"), had)
            more = len(a.sizes("sizes")) - 1
            return frozenset(gap + (more if gap >= split else 0) for gap in gaps)
        if had is None:
            return None
        moved = order_of(name, (None,) * had, a)
        if moved is not None:
            kept = [(axis, True) for axis in moved]
        elif name == "getitem":
            kept = _kept_axes(a.get("index"), had)
        else:
            return None
    except (ShapeUnknownError, IndexError, ValueError, TypeError, ArithmeticError):
        return None
    pairs = enumerate(pairwise(kept))
    return frozenset(
        at for at, ((before, _), (after, whole)) in pairs if after != before + 1 or not whole or before in gaps
    )


def _place(dim: int, rank: int | None) -> int:
    if rank is None and dim < 0:
        raise ShapeUnknownError
    return dim if rank is None else wrap(dim, rank)


def _kept_axes(index: object, rank: int) -> list[tuple[int, bool]]:
    """The axes that an index of numbers and of ranges without steps leaves, and whether it leaves all of each."""
    items = _items(index)
    kept = _kept_by_index((None,) * rank, items)
    if None in items or not all(each.dense for each in kept):
        raise ShapeUnknownError
    return [(axis, each.whole is True) for axis, each in enumerate(kept) if not each.gone]


def flattens_no_gap(gaps: frozenset[int], rank: int | None, start: object, end: object) -> bool:
    """Whether `flatten` surely gives a view of a tensor that has only these gaps."""
    if type(start) is not int or type(end) is not int:
        return False
    try:
        first = _place(start, rank)
        last = None if end == -1 else _place(end, rank)
    except (ShapeUnknownError, IndexError, ValueError):
        return False
    return not any(gap >= first and (last is None or gap < last) for gap in gaps)


def _may_be_all(index: object) -> bool:
    """Whether an index is of ranges that begin at the first element and end where nobody knows: `x[:n, :m]`."""
    items = index if type(index) is tuple else (index,)
    return all(item is Ellipsis or (isinstance(item, slice) and _from_start(item)) for item in items)


def _from_start(part: slice) -> bool:
    return part.start in (None, 0) and part.step in (None, 1) and type(part.stop) is not int


def _ordered(shape: Sizes, order: Sequence[int]) -> bool | None:
    sure = [axis for axis in order if shape[axis] not in (1, None)]
    if sure != sorted(sure):
        return False
    possible = [axis for axis in order if shape[axis] != 1]
    return True if possible == sorted(possible) else None


def _expanded(shape: Sizes, target: Sizes) -> bool | None:
    verdict: bool | None = True
    for have, wanted in zip((1,) * (len(target) - len(shape)) + shape, target, strict=True):
        if wanted == -1 or wanted == 1 or (have is not None and have != 1):
            continue
        if have == 1 and wanted is not None:
            return False
        verdict = None
    return verdict


def _more_than_one(size: int | None) -> bool | None:
    return None if size is None else size > 1


def _kept_by_slice(size: int | None, start: object, stop: object, step: object) -> _Kept:
    count = sliced(size, start, stop, step)
    all_of_it = start in (None, 0) and stop is None and step in (None, 1)
    whole = True if all_of_it else None if size is None or count is None else size == count
    return _Kept(
        whole, _more_than_one(count), None if step is not None and not isinstance(step, int) else step in (None, 1)
    )


def _kept_by_selection(size: int | None) -> _Kept:
    return _Kept(None if size is None else size == 1, False, gone=True)


def _items(index: object) -> list[object]:
    return list(index) if type(index) is tuple else [index]


def _kept_by_index(shape: Sizes, items: list[object]) -> list[_Kept]:
    """Raises `ShapeUnknownError` unless all of the indexing is basic."""
    counted = [item for item in items if item is not None and item is not Ellipsis]
    if len(counted) > len(shape):
        raise ShapeUnknownError
    kept: list[_Kept] = []
    whole = [_Kept(True, _more_than_one(size)) for size in shape]
    for item in items:
        axis = len(kept)
        if item is None:
            continue
        if item is Ellipsis:
            kept += whole[axis : axis + len(shape) - len(counted)]
        elif isinstance(item, slice):
            kept.append(_kept_by_slice(shape[axis], item.start, item.stop, item.step))
        elif item in COUNTS or (isinstance(item, int) and not isinstance(item, bool)) or item == Sized((), "int"):
            kept.append(_kept_by_selection(shape[axis]))
        else:
            raise ShapeUnknownError
    return kept + whole[len(kept) :]


def _kept_by_dim(name: str, shape: Sizes, a: Arguments) -> list[_Kept]:
    kept = [_Kept(True, _more_than_one(size)) for size in shape]
    dim = wrap(a.integer("dim", None if name in ("select", "narrow") else 0), len(shape))
    size = shape[dim]
    if name in ("select", "unbind"):
        kept[dim] = _kept_by_selection(size)
    elif name == "slice":
        kept[dim] = _kept_by_slice(size, a.get("start"), a.get("end"), a.get("step", 1))
    elif name == "narrow":
        length = size_of(a.get("length"))
        kept[dim] = _Kept(None if size is None or length is None else size == length, _more_than_one(length))
    else:
        kept[dim] = _Kept(True if size == 1 else None, None)
    return kept


def _sliced(kept: Sequence[_Kept]) -> bool | None:
    """Contiguous if behind each dimension of more than one element everything is there, and none skips elements."""
    verdict: bool | None = True
    for axis, one in enumerate(kept):
        later = [other.whole for other in kept[axis + 1 :]]
        broken = one.dense is False or False in later
        unsure = one.dense is None or None in later
        if one.many is True and broken:
            return False
        if (one.many is not False) and (broken or unsure):
            verdict = None
    return verdict
