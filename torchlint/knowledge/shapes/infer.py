"""
The shape of what an operation gives, inferred from the shapes and values of its arguments.

The interface of the shape knowledge; the operations themselves are described in the `shapes_*` modules by subject.
Never imports torch, never raises on odd arguments, and never guesses: what is not surely known is None. All answers
rest on one premise, that the operation does not raise.

References
----------
Checked against running torch, operation by operation, in `tests/knowledge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from torchlint.knowledge.shapes import fft, joining, layers, layout, linear, parts, pointwise, reduce
from torchlint.knowledge.shapes.contiguity import contiguous_after
from torchlint.knowledge.shapes.domain import (
    FLOAT,
    INTEGER,
    NUMBER,
    UNKNOWN,
    Arguments,
    Description,
    Shape,
    ShapeUnknownError,
    Sized,
    broadcast,
    differ,
    is_scalar,
    numel,
)
from torchlint.knowledge.shapes.index import getitem

__all__ = [
    "FLOAT",
    "INTEGER",
    "NUMBER",
    "UNKNOWN",
    "Shape",
    "Sized",
    "broadcast",
    "contiguous_after",
    "differ",
    "getitem",
    "infer",
    "is_scalar",
    "known_operations",
    "numel",
]

_SUBJECTS: Final = (
    *(pointwise, reduce, linear, layout),
    *(joining, parts, layers, fft),
)
_DESCRIBED: Final = Description()
for _subject in _SUBJECTS:
    for _name, _transfer in _subject.DESCRIBED.items():
        _DESCRIBED.of(_name)(_transfer)

# In-place forms that change the shape of `self`; every other one keeps it.
_RESHAPING: Final = frozenset(
    {"squeeze", "unsqueeze", "transpose", "swapaxes", "swapdims", "t", "resize", "as_strided"}
)


def infer(name: str, arguments: Mapping[str, object]) -> tuple[Shape, ...]:
    """
    The shape of each output of an operation.

    Parameters
    ----------
    name
        Base name of the operation (`add`, `max`, `linalg_svd`) or its name in `torch.nn.functional`; a trailing
        underscore means the in-place form.
    arguments
        Bound by torch's parameter names (`input` and `self` are one). Values: `Sized` for a tensor, lists of them,
        Python numbers, strings, None, tuples; `UNKNOWN` for anything else. In a list of sizes None is a size of
        unknown value. A parameter that is absent has its default.

    Returns
    -------
    tuple
        At least one shape; `(None,)` if nothing is known, not even how many outputs there are.
    """
    in_place = name.endswith("_") and not name.startswith("__")
    base = name[:-1] if in_place else name
    if name.startswith("__"):
        base = f"__{name.strip('_')}__"
    if in_place and base not in _RESHAPING:
        value = Arguments(arguments).get("self")
        return (value.shape if isinstance(value, Sized) else None,)
    transfer = _DESCRIBED.get(base) or _DESCRIBED.get(base.removesuffix("_copy"))
    if transfer is None:
        return (None,)
    try:
        result = transfer(Arguments(arguments))
    except (ShapeUnknownError, IndexError, ValueError, ArithmeticError):
        # A call that torch itself would reject (too few dimensions, contradicting sizes, zero parts) reads past a
        # shape's end, or divides by nothing.
        return (None,)
    return (tuple(result) or (None,)) if isinstance(result, list) else (result,)


def known_operations() -> frozenset[str]:
    """The base and functional names whose shapes are described."""
    return frozenset(_DESCRIBED)
