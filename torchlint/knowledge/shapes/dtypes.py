"""
The classes of torch's dtypes, and the shape and dtype that nested Python data gives a tensor.

Four classes are enough to know what autograd needs: "float" and "complex" can require grad, "int" and "bool" cannot.
Never imports torch and never guesses.

References
----------
https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch-dtype; `infer_scalar_type` and `compute_sizes` in
`torch/csrc/utils/tensor_new.cpp`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from torchlint.knowledge.shapes.domain import FLOAT, INTEGER, NUMBER, UNKNOWN, Shape, Sized

DtypeClass: TypeAlias = Literal["float", "int", "bool", "complex"]

_DTYPES: Final[dict[str, DtypeClass | None]] = {
    **dict.fromkeys(("float", "float16", "float32", "float64", "half", "double", "bfloat16"), "float"),
    **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), "float"),
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64", "short", "long", "uint16", "uint32", "uint64"), "int"),
    **dict.fromkeys(("complex32", "complex64", "complex128", "cfloat", "cdouble", "chalf"), "complex"),
    "bool": "bool",
}

_CONVERSIONS: Final[dict[str, DtypeClass]] = {
    **dict.fromkeys(("float", "double", "half", "bfloat16"), "float"),
    **dict.fromkeys(("int", "long", "short", "char"), "int"),
    **dict.fromkeys(("cfloat", "cdouble", "chalf"), "complex"),
    "bool": "bool",
}


def dtype_class(name: str) -> DtypeClass | None:
    """
    The class of a dtype by its qualified name: "torch.float32" is "float", "torch.long" is "int".

    None for what is not known to be a dtype, and for `torch.uint8`: as an index such a tensor is a mask, unlike any
    other integer, so calling it "int" would make wrong claims about shapes.
    """
    module, _, base = name.rpartition(".")
    return _DTYPES.get(base) if module == "torch" else None


def is_dtype(name: str) -> bool:
    """Whether this qualified name is one of torch's dtypes."""
    module, _, base = name.rpartition(".")
    return module == "torch" and (base in _DTYPES or base == "uint8")


def conversion(method: str) -> DtypeClass | None:
    """The dtype class that a conversion method of `Tensor` gives (`long` is "int"), None if it is no such method."""
    return _CONVERSIONS.get(method)


def value_class(value: object) -> DtypeClass | None:
    """The dtype class that torch infers from a Python number or a tensor; None if unknown."""
    if value is INTEGER or value is FLOAT:
        return "int" if value is INTEGER else "float"
    for kind, name in _NUMBERS:
        if isinstance(value, kind):
            return name
    return next((one for one in _ORDER if isinstance(value, Sized) and value.dtype == one), None)


_NUMBERS: Final[tuple[tuple[type, DtypeClass], ...]] = (
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    (complex, "complex"),
)
_ORDER: Final[tuple[DtypeClass, ...]] = ("bool", "int", "float", "complex")


def widest(classes: Sequence[DtypeClass | None]) -> DtypeClass | None:
    """The class that numbers of these classes promote to; None if one is unknown."""
    if None in classes or not classes:
        return None
    return max((one for one in classes if one is not None), key=_ORDER.index)


def data_shape(data: object) -> Shape:
    """The shape that `torch.tensor` gives nested Python data. A tensor inside a list counts as a number."""
    if isinstance(data, Sized):
        return data.shape
    if data in (INTEGER, FLOAT, NUMBER) or isinstance(data, (bool, int, float, complex)):
        return ()
    if isinstance(data, range):
        return (len(data),)
    if not isinstance(data, (list, tuple)):
        return None
    if not data:
        return (0,)
    first = data[0]
    inner: Shape = () if isinstance(first, Sized) else data_shape(first)
    return None if inner is None else (len(data), *inner)


def data_class(data: object) -> DtypeClass | None:
    """The dtype class that `torch.tensor` infers from nested Python data; an empty list gives the default, "float"."""
    if isinstance(data, range):
        return "int"
    if isinstance(data, (list, tuple)) and not isinstance(data, Sized):
        return widest([data_class(item) for item in data]) if data else "float"
    return value_class(data)


def holds_tensor(data: object) -> bool | None:
    """Whether a tensor is anywhere in nested Python data; None if unknown."""
    if isinstance(data, Sized):
        return True
    if data is UNKNOWN:
        return None
    if isinstance(data, (list, tuple)):
        inside = [holds_tensor(item) for item in data]
        return True if True in inside else None if None in inside else False
    return False
