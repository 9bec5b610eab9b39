"""
Creation functions of numbers alone: ranges, grids, windows, permutations and indices.

References
----------
https://docs.pytorch.org/docs/stable/torch.html#creation-ops; the counts are those of `torch.arange` and its relatives
"""

from __future__ import annotations

import math
from collections.abc import Callable

from torchlint.knowledge.factories.call import Call, Created
from torchlint.knowledge.shapes.domain import UNKNOWN, Shape, ShapeUnknownError, size_of, sizes_of
from torchlint.knowledge.shapes.dtypes import DtypeClass, value_class, widest


def arange(call: Call) -> Created:
    """`torch.arange`: an int for ints, else floating point."""
    start, end, step = _range_bounds(call)
    length = None
    steps = _steps(start, end, step)
    if steps is not None:
        length = size_of(max(math.ceil(steps), 0))
    kinds = [value_class(value) for value in _range_values(call)]
    return Created((length,), call.dtype(widest(kinds)), call.requires_grad())


def _range_values(call: Call) -> list[object]:
    """Start, end and step as given: one positional argument alone is the end."""
    names = ("start", "end", "step")
    if "end" not in call.values and "start" in call.values:
        return [0, call.values["start"], call.get("step", 1)]
    return [call.get(name, default) for name, default in zip(names, (0, UNKNOWN, 1), strict=True)]


def _range_bounds(call: Call) -> list[float | None]:
    return [value if isinstance(value, (int, float)) else None for value in _range_values(call)]


def _steps(start: float | None, end: float | None, step: float | None) -> float | None:
    """How many steps it is from start to end; None if that is not known, or no number that torch can count to."""
    if start is None or end is None or not step:
        return None
    try:
        steps = (end - start) / step
    except OverflowError:
        return None
    return steps if math.isfinite(steps) else None


def closed_range(call: Call) -> Created:
    """`torch.range`, which includes its end."""
    start, end, step = _range_bounds(call)
    length = None
    steps = _steps(start, end, step)
    if steps is not None:
        length = size_of(math.floor(steps) + 1)
    return Created((length,), call.dtype("float"), call.requires_grad())


def spaced(call: Call) -> Created:
    """`torch.linspace` and `torch.logspace`."""
    ends = [value_class(call.get(name, UNKNOWN)) for name in ("start", "end")]
    default: DtypeClass | None = None if None in ends else "complex" if "complex" in ends else "float"
    return Created((size_of(call.get("steps")),), call.dtype(default), call.requires_grad())


def eye(call: Call) -> Created:
    """`torch.eye`: square unless told otherwise."""
    rows = size_of(call.get("n"))
    columns = rows if call.get("m") is None else size_of(call.get("m"))
    return Created((rows, columns), call.dtype("float"), call.requires_grad())


def vector(length: str, default: DtypeClass) -> Callable[[Call], Created]:
    """A vector whose length is the parameter `length`."""

    def create(call: Call) -> Created:
        return Created((size_of(call.get(length)),), call.dtype(default), call.requires_grad())

    return create


def randint(call: Call) -> Created:
    """`randint(high, size)` or `randint(low, high, size)`: told apart by the second argument."""
    positional = list(call.positional)
    if "size" in call.keywords:
        size: object = call.values["size"]
    elif len(positional) > 2:
        size = positional[2]
    elif len(positional) == 2:
        size = positional[1]
    else:
        size = UNKNOWN
    try:
        shape: Shape = sizes_of(size) if isinstance(size, (tuple, list)) else None
    except ShapeUnknownError:
        shape = None
    return Created(shape, call.dtype("int"), call.requires_grad())


def triangle_indices(sign: int) -> Callable[[Call], Created]:
    """`torch.tril_indices` (sign 1) and `torch.triu_indices` (sign -1): two rows of positions."""

    def create(call: Call) -> Created:
        rows, columns, offset = (
            call.get(name, default) for name, default in (("row", UNKNOWN), ("col", UNKNOWN), ("offset", 0))
        )
        count = None
        if isinstance(rows, int) and isinstance(columns, int) and isinstance(offset, int) and rows >= 0 <= columns:
            first = offset + (1 if sign > 0 else 0)
            lower = _triangle(first + rows - 1, columns) - _triangle(first - 1, columns)
            count = size_of(lower if sign > 0 else rows * columns - lower)
        return Created((2, count), call.dtype("int"), False)

    return create


def _triangle(rows: int, columns: int) -> int:
    """The elements of so many rows, of 1, 2, 3, ... elements and of `columns` at most."""
    growing = max(min(rows, columns), 0)
    return growing * (growing + 1) // 2 + max(rows - columns, 0) * columns


def window(call: Call) -> Created:
    """A window function of signal processing."""
    name = "M" if "M" in call.values else "window_length"
    return Created((size_of(call.get(name)),), call.dtype("float"), call.requires_grad())


def frequencies(half: bool) -> Callable[[Call], Created]:
    """`torch.fft.fftfreq`, or `rfftfreq`, which gives half of them."""

    def create(call: Call) -> Created:
        n = size_of(call.get("n"))
        return Created((n if n is None or not half else n // 2 + 1,), call.dtype("float"), call.requires_grad())

    return create
