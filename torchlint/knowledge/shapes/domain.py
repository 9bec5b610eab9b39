"""
The abstract domain of shapes: what is known of a tensor's sizes, and how arguments tell it.

A shape is a tuple of sizes, where a size nobody knows is None; a rank nobody knows makes the whole shape None. This is
the floor of the shape knowledge: no operation is described here, and torch is never imported.

References
----------
Broadcasting: https://docs.pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeAlias, TypeVar

Sizes: TypeAlias = "tuple[int | None, ...]"
Shape: TypeAlias = "tuple[int | None, ...] | None"
Result: TypeAlias = "Shape | list[Shape]"


class Unknown(Enum):
    """
    The type of `UNKNOWN` (some value of some type), of `INTEGER` and `FLOAT` (an int, a float, nobody knows which) and
    of `NUMBER` (a Python number, nobody knows of which type).
    """

    UNKNOWN = "unknown"
    INTEGER = "integer"
    FLOAT = "float"
    NUMBER = "number"

    def __repr__(self) -> str:
        return self.name


LARGEST: Final = (1 << 63) - 1
"""The largest size there is: torch counts in `int64_t`, and refuses a call with a larger one."""
UNKNOWN: Final = Unknown.UNKNOWN
INTEGER: Final = Unknown.INTEGER
FLOAT: Final = Unknown.FLOAT
NUMBER: Final = Unknown.NUMBER
COUNTS: Final = (INTEGER, NUMBER)
"""What is an int wherever torch takes only an int: a size, a dimension, an index."""


class Sized(NamedTuple):
    """
    A tensor among arguments: its shape and, where it matters (an index), the class of its dtype.

    Attributes
    ----------
    shape
        Its sizes, None where unknown.
    dtype
        "float", "int", "bool", "complex", or None if unknown.
    trues
        How many elements of a mask are true, None if that is not known.
    """

    shape: Shape
    dtype: str | None = None
    trues: int | None = None


class ShapeUnknownError(Exception):
    """Raised inside the shape knowledge when the arguments do not tell the result; it never leaves it."""


def numel(shape: Shape) -> int | None:
    """The number of elements, or None if it is unknown. A size of 0 decides it alone."""
    if shape is None:
        return None
    if 0 in shape:
        return 0
    product = 1
    for size in shape:
        if size is None:
            return None
        product *= size
    return product if product <= LARGEST else None


def differ(left: Shape, right: Shape) -> bool:
    """Whether two shapes are certainly not the same."""
    if left is None or right is None:
        return False
    if len(left) != len(right):
        return True
    return any(a is not None and b is not None and a != b for a, b in zip(left, right, strict=True))


def is_scalar(shape: Shape) -> bool | None:
    """
    Whether a tensor of this shape has exactly one element, which is what `backward()` without `gradient` needs.

    None if unknown. One size known to differ from 1 is enough for False.
    """
    if shape is None:
        return None
    if any(size is not None and size != 1 for size in shape):
        return False
    return None if None in shape else True


def broadcast(*shapes: Shape) -> Shape:
    """
    The shape that these broadcast to, on the premise that they do broadcast.

    An unknown size against a known size n > 1 gives n (it can only be 1 or n); against 1 it stays unknown. None if a
    rank is unknown or the sizes contradict each other.
    """
    rank = 0
    for shape in shapes:
        if shape is None:
            return None
        rank = max(rank, len(shape))
    result: list[int | None] = [1] * rank
    for shape in shapes:
        assert shape is not None
        for axis, size in enumerate(shape, rank - len(shape)):
            have = result[axis]
            if size == 1 or size == have:
                continue
            if have == 1 or have is None:
                result[axis] = size
            elif size is not None:
                return None
    return tuple(result)


def known(shape: Shape) -> Sizes:
    """The shape if its rank is known; raises `ShapeUnknownError` if not."""
    if shape is None:
        raise ShapeUnknownError
    return shape


def wrap(dim: int, rank: int) -> int:
    """`dim` from the front; a 0-d tensor counts as 1-d, as in torch. Raises `ShapeUnknownError` if out of range."""
    rank = max(rank, 1)
    if not -rank <= dim < rank:
        raise ShapeUnknownError
    return dim % rank


def size_of(value: object) -> int | None:
    """A size given as an argument: an int, or None for anything that is not a known one that torch can hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST else None


_ALIASES: Final = {
    **dict.fromkeys(("input", "tensor", "A", "x", "x1"), "self"),
    "x2": "other",
    "axis": "dim",
    "keepdims": "keepdim",
}


class Arguments:
    """
    A call's arguments, bound by torch's parameter names.

    `input`, `tensor`, `A` and `self` are one name, and so are the NumPy spellings that torch's parser takes (`axis`,
    `keepdims`, `x`, `x1`, `x2`). What is absent was not given. All readers raise `ShapeUnknownError` where their
    answer needs a value that is unknown.
    """

    __slots__ = ("values",)

    def __init__(self, arguments: Mapping[str, object]) -> None:
        self.values: dict[str, object] = {}
        for name, value in arguments.items():
            alias = _ALIASES.get(name, name)
            self.values[name if alias in arguments else alias] = value

    def get(self, name: str, default: object = None) -> object:
        """The value as it is, UNKNOWN included."""
        return self.values.get(name, default)

    def first(self, *names: str) -> object:
        """The first of these that was given and is not Python's None."""
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return value
        return None

    def given(self, name: str) -> bool:
        """Whether it was given and is not Python's None. Raises `ShapeUnknownError` if it is `UNKNOWN`."""
        value = self.values.get(name)
        if value is UNKNOWN:
            raise ShapeUnknownError
        return value is not None

    def shape(self, name: str = "self") -> Sizes:
        """The sizes of a tensor argument whose rank must be known."""
        return known(self.operand(name))

    def operand(self, name: str = "self") -> Shape:
        """The shape of an operand: a tensor's, or () for a Python number."""
        value = self.values.get(name)
        if isinstance(value, Sized):
            return value.shape
        if isinstance(value, (bool, int, float, complex)) or value in (INTEGER, FLOAT, NUMBER):
            return ()
        raise ShapeUnknownError

    def tensors(self, name: str = "tensors") -> list[Shape]:
        """The shapes of a list of tensors of known length; an element that is not known to be one is None."""
        value = self.values.get(name)
        if isinstance(value, Sized) or not isinstance(value, Sequence) or isinstance(value, str):
            raise ShapeUnknownError
        return [item.shape if isinstance(item, Sized) else None for item in value]

    def integer(self, name: str, default: int | None = None) -> int:
        """A known int."""
        value = self.values.get(name, default)
        if isinstance(value, int) and abs(value) <= LARGEST:
            return int(value)
        raise ShapeUnknownError

    def flag(self, name: str, default: bool = False) -> bool:
        """A known bool."""
        value = self.values.get(name, default)
        if isinstance(value, (bool, int)):
            return bool(value)
        if value is None:
            return default
        raise ShapeUnknownError

    def text(self, name: str, default: str) -> str:
        """A known string."""
        value = self.values.get(name, default)
        if isinstance(value, str):
            return value
        raise ShapeUnknownError

    def sizes(self, *names: str) -> Sizes:
        """A list of sizes under the first of these names: an int alone or a sequence of known length."""
        return sizes_of(self.first(*names))

    def dims(self, name: str, rank: int) -> tuple[int, ...] | None:
        """
        Dimensions counted from the front: of an int or a sequence of ints. None if the argument is absent, None or an
        empty sequence, which torch's reductions all read as "every dimension".
        """
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, int):
            return (wrap(value, rank),)
        if isinstance(value, (tuple, list)) and not isinstance(value, Sized):
            if not all(isinstance(item, int) for item in value):
                raise ShapeUnknownError
            return tuple(wrap(item, rank) for item in value) or None
        raise ShapeUnknownError


def sizes_of(value: object) -> Sizes:
    """
    A list of sizes: an int alone, a sequence, or a sequence in a sequence (`view((2, 3))`).

    A lone UNKNOWN in a sequence may itself be a sequence (`view(shape)`), so it tells nothing; None, INTEGER and
    NUMBER are one size of unknown value.
    """
    if (isinstance(value, int) and not isinstance(value, bool)) or value in COUNTS:
        return (size_of(value),)
    if isinstance(value, Sized) or not isinstance(value, (tuple, list)):
        raise ShapeUnknownError
    if len(value) == 1:
        if value[0] is UNKNOWN:
            raise ShapeUnknownError
        if isinstance(value[0], (tuple, list)) and not isinstance(value[0], Sized):
            return sizes_of(value[0])
    return tuple(size_of(item) for item in value)


def spread(value: object, count: int) -> Sizes:
    """An int for all `count` dimensions or one per dimension (a kernel size, a stride); unknown sizes are None."""
    if isinstance(value, int):
        return (size_of(int(value)),) * count
    if isinstance(value, (tuple, list)) and not isinstance(value, Sized):
        if len(value) == 1:
            return (size_of(value[0]),) * count
        if len(value) == count:
            return tuple(size_of(item) for item in value)
        raise ShapeUnknownError
    return (None,) * count


Transfer: TypeAlias = "Callable[[Arguments], Result]"
_Transfer = TypeVar("_Transfer", bound=Transfer)


class Description(dict[str, Transfer]):
    """Per operation the function that computes the shape of its result; one per module, by subject."""

    def of(self, *names: str) -> Callable[[_Transfer], _Transfer]:
        """Registers the decorated function for these operations. Raises `ValueError` if one is described twice."""

        def register(function: _Transfer) -> _Transfer:
            for name in names:
                if name in self:
                    raise ValueError(f"the shape of {name!r} is described twice")
                self[name] = function
            return function

        return register
