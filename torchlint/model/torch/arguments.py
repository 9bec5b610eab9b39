"""
Values as arguments of torch: their kind for the operation table, their size and dtype for the shape knowledge.

Reads values; runs no operation.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, cast

from torchlint.knowledge.ops.find import Known
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.events import Shape
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.values import (
    CONTAINERS,
    Choice,
    Constant,
    External,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
    fits,
    is_value_of_elsewhere,
)
from torchlint.model.torch.torch import Torch
from torchlint.syntax import cst, ir

_UNKNOWN_NUMBERS: Final = {
    "int": shapes.INTEGER,
    "float": shapes.FLOAT,
    "number": shapes.NUMBER,
    "bool": shapes.NUMBER,
}
NUMBERS = frozenset({"bool", "int", "float", "number", "complex"})


def kind_of(value: Value) -> str:
    """The kind of an argument, in the words of `torchlint.knowledge.ops.find.Kind`."""
    return _kind_of(value) if type(value) not in CONTAINERS or fits(value) else "unknown"


def _kind_of(value: Value) -> str:
    if type(value) is Tensor:
        return "tensor"
    if type(value) is Constant:
        return _constant_kind(value.value)
    if type(value) is Scalar:
        return value.kind if value.kind in ("int", "float", "bool", "str", "number") else "other"
    if isinstance(value, Unknown):
        return "tensor" if value.tensor is not None else "unknown"
    if type(value) is Sequence:
        return _sequence_kind(value)
    if type(value) is External:
        if _dtype(value.qualified) is not None:
            return "dtype"
        return "unknown" if is_value_of_elsewhere(value) else "other"
    if isinstance(value, Choice):
        kinds = {_kind_of(each) for _, each in value.alternatives}
        if len(kinds) == 1:
            return kinds.pop()
        return "number" if kinds <= {"int", "float", "bool", "number"} else "unknown"
    return "other"


def _sequence_kind(value: Sequence) -> str:
    inner = value.items if value.items is not None else ((value.element,) if value.element is not None else ())
    kinds = {_kind_of(each) for each in inner}
    if not kinds:
        return "unknown" if value.items is None else "ints"
    if kinds == {"tensor"}:
        return "tensors"
    if kinds <= _SIZES and not kinds.isdisjoint(_INTEGERS):
        return "ints"  # no list of tensors has a number in it, so the others are numbers, too
    return "other" if kinds.isdisjoint(("unknown", "values")) else "values"


_INTEGERS = frozenset({"int", "bool"})
_SIZES = _INTEGERS | {"unknown"}
INTEGER: Final = "builtins.int"
"""What an unknown value is made by that has been given as one of several sizes."""


def as_argument(value: Value) -> object:
    """An argument as the shape knowledge takes it: `Sized`, plain Python values, or UNKNOWN."""
    return _argument(value) if type(value) not in CONTAINERS or fits(value) else shapes.UNKNOWN


def _argument(value: Value) -> object:
    if type(value) is Tensor:
        return shapes.Sized(value.shape, value.dtype)
    if type(value) is Constant:
        return value.value
    if isinstance(value, Unknown):
        if value.tensor is not None:
            return shapes.Sized(value.tensor.shape, value.tensor.dtype)
        return _UNKNOWN_NUMBERS["int"] if value.made_by == INTEGER else shapes.UNKNOWN
    if type(value) is Sequence and value.items is not None:
        items = [_argument(each) for each in value.items]
        if any(isinstance(item, shapes.Sized) for item in items):
            return items
        return tuple(items)
    if type(value) is Scalar:
        return _UNKNOWN_NUMBERS.get(value.kind, shapes.UNKNOWN)
    if type(value) is External:
        return _dtype(value.qualified) or shapes.UNKNOWN
    if isinstance(value, Choice):
        arguments = [_argument(each) for _, each in value.alternatives]
        if all(isinstance(each, shapes.Sized) for each in arguments):
            return shapes.Sized(_common([each.shape for each in arguments if isinstance(each, shapes.Sized)]))
    return shapes.UNKNOWN


def input_of(value: Unknown) -> Tensor | None:
    """The tensor that an input of a `forward` is if it is one."""
    first = value.depends[0] if value.hint and value.depends else None
    return first if isinstance(first, Tensor) else None


def comes_of_inputs(value: Unknown) -> bool:
    """Whether it is an input of a `forward`, or computed from one by operators that record what they do."""
    if value.hint:
        return value.certain_edge
    return value.certain_edge and bool(value.depends) and isinstance(value.source, (ir.Binary, ir.Unary))


def known_of(value: Value) -> Known | None:
    """What the operation table may ask of an argument beyond its kind."""
    if isinstance(value, Constant):
        return Known(value.value) if value.value is None or isinstance(value.value, (bool, int, float, str)) else None
    if isinstance(value, External):
        return Known(value.qualified) if _dtype(value.qualified) is not None else None
    if isinstance(value, Unknown):
        value = value.tensor or value.guess or input_of(value) or value
    if type(value) is Choice:
        return _known_of_all([each for _, each in value.alternatives])
    if not isinstance(value, Tensor):
        return None
    contiguous = None if value.contiguous is Truth.MAYBE else value.contiguous is Truth.YES
    floating = None if value.dtype is None else value.dtype in ("float", "complex")
    return Known(
        dtype=value.precise or None,
        rank=None if value.shape is None else len(value.shape),
        contiguous=contiguous,
        floating=floating,
    )


def _known_of_all(values: list[Value]) -> Known | None:
    """
    What is known of each of several tensors: what a dropout gives lies in memory as what it was given, and what
    `contiguous()` gives is contiguous, whether it is the tensor itself or a copy.
    """
    tensors = [each for each in values if isinstance(each, Tensor)]
    found = [known for each in tensors if (known := known_of(each)) is not None]
    if len(found) != len(values):
        return None
    first, *others = found
    copies = [each for each in tensors if each.op == "torch.Tensor.contiguous" and each.contiguous is Truth.YES]
    if any(set(values) <= {each, *each.inputs} for each in copies):
        return Known(rank=first.rank, contiguous=True, dtype=first.dtype, floating=first.floating)
    shared = {
        name: getattr(first, name)
        for name in ("rank", "contiguous", "dtype", "floating")
        if all(getattr(each, name) == getattr(first, name) for each in others)
    }
    return Known(**shared)


_MOST_OPERANDS: Final = 60
"""Tensors that are looked at for what one was computed from: it is asked of each in a long chain."""


def dtype_of(torch: Torch, tensor: Tensor) -> str:
    """
    The very dtype of a tensor, "" if it is not known. Where a `forward` runs as it does by default, nobody has
    chosen another dtype for what requires grad, nor is there an autocast around it.
    """
    if tensor.precise or not torch.by_default:
        return tensor.precise
    plain = tensor.dtype != "complex" and tensor.requires_grad.otherwise is Truth.YES
    return torch.default_dtype if plain and not _is_of_another_dtype(torch, tensor) else ""


def _is_of_another_dtype(torch: Torch, tensor: Tensor) -> bool:
    """Whether a tensor of which the dtype is not known was computed from one that somebody has chosen another for."""
    return any(
        isinstance(each, Tensor) and each.precise not in ("", torch.default_dtype) and each.dtype == "float"
        for each in islice(explore(tensor, _operands_of_unknown), _MOST_OPERANDS)
    )


def _operands_of_unknown(value: Value) -> tuple[Tensor, ...]:
    """What a tensor was computed from of which the dtype is not known."""
    return value.inputs if isinstance(value, Tensor) and not value.precise else ()


def has_dtype(torch: Torch, tensor: Tensor, wanted: str) -> Truth:
    """Whether a tensor is of a dtype."""
    own = dtype_of(torch, tensor)
    if not wanted:
        return Truth.MAYBE
    if own:
        return Truth.of(wanted == own)
    return Truth.NO if tensor.dtype is not None and class_of(wanted) != tensor.dtype else Truth.MAYBE


CASTS: Final = {
    "float": "torch.float32", "double": "torch.float64", "half": "torch.float16", "bfloat16": "torch.bfloat16",
    "int": "torch.int32", "long": "torch.int64", "short": "torch.int16", "char": "torch.int8", "byte": "torch.uint8",
    "bool": "torch.bool", "cfloat": "torch.complex64", "cdouble": "torch.complex128",
    "to": "", "type": "", "type_as": "",
}  # fmt: skip
_PRECISE = {
    "torch.float": "torch.float32", "torch.double": "torch.float64", "torch.half": "torch.float16",
    "torch.int": "torch.int32", "torch.long": "torch.int64", "torch.short": "torch.int16",
    "torch.cfloat": "torch.complex64", "torch.cdouble": "torch.complex128",
}  # fmt: skip


def precise_dtype(dtype: str) -> str:
    """A dtype by its own name: `torch.float` is `torch.float32`."""
    return _PRECISE.get(dtype, dtype)


def _constant_kind(value: object) -> str:
    known = _KIND_OF_TYPE.get(type(value))
    if known is not None:
        return known
    return next((kind for types, kind in _KIND_OF_TYPE.items() if isinstance(value, types)), "other")


_KIND_OF_TYPE: Final[dict[type, str]] = {
    type(None): "none",
    bool: "bool",
    int: "int",
    float: "float",
    complex: "complex",
    str: "str",
}


_DTYPES = {
    "float": "float float16 float32 float64 double half bfloat16",
    "int": "int int8 int16 int32 int64 long short uint8 uint16 uint32 uint64",
    "bool": "bool",
    "complex": "complex64 complex128 cfloat cdouble complex32",
}
_CLASS_OF_DTYPE: Final = {f"torch.{name}": kind for kind, names in _DTYPES.items() for name in names.split()}


def _dtype(qualified: str) -> str | None:
    return qualified if qualified in _CLASS_OF_DTYPE else None


def class_of(dtype: str) -> str | None:
    """The class of a dtype by its name, None if it is none: of bytes too, which as an index are a mask."""
    return _CLASS_OF_DTYPE.get(dtype)


def _common(found: list[Shape]) -> Shape:
    first = found[0]
    for shape in found[1:]:
        if first is None or shape is None or len(first) != len(shape):
            return None
        first = tuple(a if a == b else None for a, b in zip(first, shape, strict=True))
    return first


def truth_of(value: Value | None, default: Truth = Truth.MAYBE) -> Truth:
    """The truth of a value as a condition."""
    if value is None:
        return default
    if isinstance(value, Constant):
        return Truth.of(bool(value.value))
    if isinstance(value, Choice):
        joined = truth_of(value.alternatives[0][1])
        for _, each in value.alternatives[1:]:
            joined = joined.join(truth_of(each))
        return joined
    return Truth.MAYBE


def shape_of(value: Value) -> Shape:
    """The shape of a value as an argument, if it is a tensor and its shape is known."""
    sized = as_argument(value)
    return sized.shape if isinstance(sized, shapes.Sized) else None


def known_tensors(value: Value) -> list[tuple[Guard, Tensor]]:
    """The tensors that a value may be, as far as they are known."""
    return [(guard, each) for guard, each in alternatives(value) if isinstance(each, Tensor)]


def python_value(value: object) -> Value:
    """A plain Python value as an abstract one."""
    if isinstance(value, (tuple, list)):
        return Sequence("tuple", tuple(python_value(each) for each in value))
    if value is shapes.UNKNOWN:
        return Unknown()
    for kind, unknown in _UNKNOWN_NUMBERS.items():
        if value is unknown:
            return Scalar(kind)
    if isinstance(value, str) and value.startswith("torch."):
        return External(value)
    return Constant(value)


def cst_of(node: ir.Node) -> cst.BaseExpression:
    """The libcst expression that an expression was lowered from."""
    return cast("cst.BaseExpression", node.origin)
