"""
The dtype of what an operation computes: PyTorch's type promotion, as far as it can be told without the values.

Works on classes of dtypes ("bool" < "int" < "float" < "complex"), and on the one dtype that all floating point operands
have. An operand of which nothing is known may be of any class. Never imports torch and never guesses: what is not
listed, and has no derivative that tells, is not known.

References
----------
https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc; in `aten/src/ATen/native`:
`TypeProperties.cpp` (`result_type`), `ReduceOps.cpp` (sums of integers)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_ORDER: Final = ("bool", "int", "float", "complex")
_BOOLS: Final = frozenset(
    [
        "eq", "ne", "lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal", "not_equal", "isnan",
        "isinf", "isfinite", "isposinf", "isneginf", "isreal", "isclose", "isin", "signbit", "logical_not",
        "logical_and", "logical_or", "logical_xor",
    ]
)  # fmt: skip
_TRUE_OF_ANY: Final = frozenset({"all", "any"})
"""Of a `torch.uint8` tensor these give one of that dtype."""
_INTEGERS: Final = frozenset(
    [
        "argmax", "argmin", "argsort", "argwhere", "nonzero", "count_nonzero", "bucketize", "searchsorted",
        "multinomial", "one_hot", "numel",
    ]
)  # fmt: skip
_KEEP: Final = frozenset(
    [
        "neg", "negative", "positive", "clone", "index", "select", "relu", "sort", "topk", "max", "min", "amax",
        "amin", "median", "kthvalue", "mode", "msort", "cummax", "cummin", "flip", "roll", "rot90", "tril", "triu",
        "repeat", "gather", "index_select", "masked_select", "take", "take_along_dim", "masked_fill", "index_fill",
        "scatter", "flatten", "reshape", "ravel", "contiguous", "repeat_interleave", "square", "diag", "diag_embed",
        "tile", "index_put", "index_copy", "scatter_add", "index_add", "cpu", "cuda", "unfold", "as_strided", "diff",
        "dropout", "masked_scatter", "sgn", "sign", "expand", "expand_as", "broadcast_to", "t", "transpose",
        "permute", "movedim", "swapaxes", "squeeze", "unsqueeze",
    ]
)  # fmt: skip
_PROMOTE: Final = frozenset(
    [
        "add", "sub", "subtract", "mul", "multiply", "rsub", "pow", "remainder", "fmod", "floor_divide", "where",
        "stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack", "maximum", "minimum", "fmax", "fmin",
        "clamp", "clip", "clamp_min", "clamp_max", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
        "__and__", "__or__", "__xor__", "__rpow__", "__rsub__", "__rmod__", "__rfloordiv__",
    ]
)  # fmt: skip
_FLOATING: Final = frozenset(
    [
        "div", "divide", "true_divide", "__rdiv__", "__rtruediv__", "exp", "log", "log2", "log10", "log1p", "expm1",
        "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "atan", "atan2", "asin", "acos", "sigmoid",
        "reciprocal", "erf", "erfc", "lgamma", "digamma", "logit", "xlogy", "deg2rad", "rad2deg", "sinc", "copysign",
    ]
)  # fmt: skip
_SUMS: Final = frozenset({"sum", "prod", "cumsum", "cumprod", "nansum"})
_REAL: Final = frozenset({"abs", "absolute", "angle", "real", "imag", "view_as_real"})
_UNLIKE: Final = frozenset(
    [
        "stft", "linalg_eig", "linalg_eigvals", "heaviside",
        "frexp", "histc", "histogram", "bincount", "quantize_per_tensor", "to_sparse",
    ]
)  # fmt: skip
"""Operations whose result, of floating point numbers, need not be of their dtype."""


_COMPLEX: Final = frozenset(
    [
        "complex", "polar", "view_as_complex", "fft_fft", "fft_fft2", "fft_fftn", "fft_ifft", "fft_ifft2", "fft_ifftn",
        "fft_rfft", "fft_rfft2", "fft_rfftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn",
    ]
)  # fmt: skip
"""Operations whose result is complex, whatever they are given."""


_PARTS: Final = {
    "torch.complex32": "torch.float16",
    "torch.complex64": "torch.float32",
    "torch.complex128": "torch.float64",
}


class Operand:
    """
    What is known of an operand: the lowest and the highest class that its dtype may be of, and the dtype itself, "" if
    it is not known; of a Python number it is "" too, and `number` is True.
    """

    __slots__ = ("dtype", "high", "low", "number")

    def __init__(self, low: str = "bool", high: str = "complex", dtype: str = "", number: bool = False) -> None:
        self.low = low
        self.high = high
        self.dtype = dtype
        self.number = number

    def __repr__(self) -> str:
        return f"Operand(low={self.low!r}, high={self.high!r}, dtype={self.dtype!r}, number={self.number!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Operand)
            and self.low == other.low
            and self.high == other.high
            and self.dtype == other.dtype
            and self.number == other.number
        )

    def __hash__(self) -> int:
        return hash((self.low, self.high, self.dtype, self.number))


ANYTHING: Final = Operand()


@lru_cache(maxsize=1 << 12)
def result_dtype(
    name: str, operands: tuple[Operand, ...], differentiable: bool, default: str
) -> tuple[str | None, str]:
    """
    The class of an operation's result and its very dtype, None and "" where they are not known.

    Parameters
    ----------
    name
        The operation's base name, as in `torchlint.knowledge.ops.find.Op`.
    operands
        Those that take part, tensors and Python numbers: in the same few combinations again and again.
    differentiable
        Whether this result has a derivative: of real floating point operands it is then floating point itself.
    default
        The dtype that integers become where an operation computes floating point numbers; "" if it is not known.
    """
    if name in _BOOLS:
        return "bool", "torch.bool"
    if name in _TRUE_OF_ANY:
        bytes_ = any(each.dtype == "torch.uint8" or each == ANYTHING for each in operands)
        return (None, "") if bytes_ else ("bool", "torch.bool")
    if name in _INTEGERS:
        return "int", ""
    if name in _COMPLEX:
        kinds = {whole for whole, part in _PARTS.items() if all(each.dtype == part for each in operands)}
        return "complex", kinds.pop() if kinds and operands else ""
    if not operands or name in _UNLIKE or name.startswith("fft_"):
        return None, ""
    if name == "float_power" and all(each.high != "complex" for each in operands):
        return "float", "torch.float64"
    low, high = operands[0].low, operands[0].high
    if len(operands) > 1:
        low = max([each.low for each in operands], key=_ORDER.index)
        high = max([each.high for each in operands], key=_ORDER.index)
    listed = name in _KEEP or name in _PROMOTE
    if name in _REAL:
        return _real(low, high, operands)
    if name in _SUMS:
        low, high = ("int" if each == "bool" else each for each in (low, high))
        listed = True
    elif name in _FLOATING:
        low, high = ("float" if each in ("bool", "int") else each for each in (low, high))
        listed = True
    if low != high or not (listed or (differentiable and low == "float")):
        return None, ""
    if low == "float":
        return "float", _one_dtype(operands, default)
    if low == "int" and any(each.dtype == "torch.uint8" for each in operands):
        return None, ""
    return low, ""


def _real(low: str, high: str, operands: Sequence[Operand]) -> tuple[str | None, str]:
    if high == "float" == low:
        return "float", _one_dtype(operands, "")
    if low == "complex":
        return "float", _PARTS.get(operands[0].dtype, "")
    return ("float", "") if low == "float" else (None, "")


def _one_dtype(operands: Sequence[Operand], default: str) -> str:
    """The dtype that all floating point tensors have; of none at all the default one."""
    if any(each.low != each.high and not each.number for each in operands):
        return ""
    floats = {each.dtype for each in operands if each.high == "float" and not each.number}
    if not floats:
        return default
    return floats.pop() if len(floats) == 1 else ""
