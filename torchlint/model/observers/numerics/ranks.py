"""
How many dimensions a value has, by the computations that gave it: what unpacks its shape says so as well.

Asks the log of computations; raises no events.
"""

from __future__ import annotations

from collections.abc import Callable

from torchlint.model.state.computations import Computation, constant
from torchlint.model.state.values import Constant, Module, Scalar, Sequence, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.spelling import index_kind, indices

KEEPS = frozenset(
    """
    abs clamp clone contiguous detach dropout Dropout elu exp gelu leaky_relu linear log masked_fill neg relu sigmoid
    silu softplus sqrt tanh float double half to type cpu cuda Identity LayerNorm layer_norm transpose swapaxes movedim
    flip roll cumsum softmax log_softmax softmin batch_norm BatchNorm1d celu CELU hardtanh Hardtanh hardswish Hardswish
    hardsigmoid Hardsigmoid mish Mish normalize prelu PReLU relu6 ReLU6 rms_norm RMSNorm rrelu RReLU selu SELU
    softsign Softsign logsigmoid alpha_dropout AlphaDropout max_pool1d MaxPool1d avg_pool1d AvgPool1d
    adaptive_avg_pool1d AdaptiveAvgPool1d adaptive_max_pool1d AdaptiveMaxPool1d
    """.split()  # noqa: SIM905
)
"""What gives as many dimensions as its first operand has."""
GIVES = {"mm": 2, "addmm": 2, "cdist": 2, "bmm": 3, "baddbmm": 3, "conv1d": 3, "Conv1d": 3}
MAPS = {
    f"{kind}{size}d": size + 2
    for size in (2, 3)
    for kind in (
        "AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "BatchNorm", "Conv", "ConvTranspose", "InstanceNorm",
        "MaxPool", "adaptive_avg_pool", "adaptive_max_pool", "avg_pool", "conv", "conv_transpose", "max_pool",
    )
}  # fmt: skip
"""What gives maps (N, C, H, W) or volumes, whose dimension 1 is the channels: their number of dimensions."""
KEEPS_MAPS = frozenset({"interpolate", "upsample", "Upsample", "dropout2d", "Dropout2d", "GroupNorm", "group_norm"})
_RESHAPES = frozenset({"view", "reshape"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "add", "sub", "mul", "div"})
_REDUCES = frozenset({"amax", "amin", "logsumexp", "max", "mean", "min", "nanmean", "nansum", "prod", "sum"})
"""What takes the dimensions that it is given out, and asks next whether they stay, with the size 1."""
DEPTH = 12


class Ranks:
    """
    Asks for the numbers of dimensions of values, by the computations that `maker` finds.

    Attributes
    ----------
    unpacked
        The values whose shapes were unpacked into so many names, or are asserted to have so many sizes.
    outputs
        What recurrent layers give for each step, and their last states: of two dimensions or, for a batch, of three.
    """

    def __init__(
        self, maker: Callable[[Value | None], Computation | None], tensor: Callable[[Value | None], Tensor | None]
    ) -> None:
        self.maker = maker
        self.tensor = tensor
        self.unpacked: dict[int, tuple[Value, int]] = {}
        self.outputs: dict[int, Value] = {}

    def is_argument(self, value: Value) -> bool:
        """Whether what has as many dimensions as a value is an argument that nothing in the file gives."""
        for _ in range(DEPTH):
            made = self.maker(value)
            if made is None:
                break
            if not made.operands or made.name not in KEEPS:
                return False
            value = made.operands[0]
        source = value.source if isinstance(value, Unknown) else value.origin if isinstance(value, Tensor) else None
        return isinstance(source, ir.Parameter)

    def of(self, value: Value | None, depth: int = DEPTH) -> int | None:
        if value is None:
            return None
        if id(value) in self.unpacked:
            return self.unpacked[id(value)][1]
        tensor = self.tensor(value)
        if tensor is not None and id(tensor) in self.unpacked:
            return self.unpacked[id(tensor)][1]
        if tensor is not None and tensor.shape is not None:
            return len(tensor.shape)
        made = self.maker(value)
        if made is None or not made.operands or not depth:
            return None
        first, rest = made.operands[0], made.operands[1:]
        if made.name in GIVES or made.name in MAPS:
            return GIVES[made.name] if made.name in GIVES else MAPS[made.name]
        if made.name in _RESHAPES and made.how == "method":
            return _sizes(rest)
        if made.name == "flatten":
            if made.module is not None:
                return 2 if flattens(made.module) else None
            start, end = constant(made.get(1, "start_dim")), made.get(2, "end_dim")
            if made.get(1, "start_dim") is None and end is None:
                return 1
            return 2 if start == 1 and end is None and made.how != "layer" else None
        if made.name in ("squeeze", "unsqueeze"):
            squeezes = made.name == "squeeze"
            given = self._most(first, depth - 1) if squeezes else self.of(first, depth - 1)
            return _with_one(made.name, given, made.get(1, "dim"))
        if made.name in ("matmul", "@", "t") and all(self.of(each, depth - 1) == 2 for each in made.operands):
            return 2
        if made.name == "permute":
            return _sizes(rest)
        if made.name == "cat" and isinstance(first, Sequence):
            parts = first.items or (() if first.element is None else (first.element,))
            return self._joined(parts, depth)
        if made.name == "einsum":
            return _named(constant(first))
        if made.name == "[]" and isinstance(made.origin, ir.Subscript):
            taken = _indices(made.origin)
            asks = len(taken) == 3 or "integer" in taken
            given = self._most(first, depth - 1) if asks else self.of(first, depth - 1)
            return None if given is None or "other" in taken else given - taken.count("integer")
        if made.name in _REDUCES:
            return _reduced(self._most(first, depth - 1), made)
        if made.name in _ARITHMETIC and len(rest) == 1:
            ranks = [self.of(each, depth - 1) for each in made.operands if not _is_number(each)]
            known = [each for each in ranks if each is not None]
            return max(known) if known and len(known) == len(ranks) else None
        return self.of(first, depth - 1) if made.name in KEEPS or made.name in KEEPS_MAPS else None

    def _most(self, value: Value, depth: int) -> int | None:
        """
        How many dimensions a value has, for what takes one out: of what a recurrent layer gives, no more than three.
        Two are left then, or one, and torch takes the last either way.
        """
        for _ in range(DEPTH):
            if id(value) in self.outputs:
                return 3
            made = self.maker(value)
            if made is None or not made.operands or made.name not in KEEPS:
                break
            value = made.operands[0]
        return self.of(value, depth)

    def _joined(self, parts: tuple[Value, ...], depth: int) -> int | None:
        """`cat` takes parts of one number of dimensions, beside which only an empty one may have another: 1."""
        ranks = {self.of(each, depth - 1) for each in parts}
        ranks -= {None, 1} if len(ranks) > 1 else set()
        return ranks.pop() if len(ranks) == 1 else None

    def is_map(self, value: Value | None) -> bool:
        for _ in range(DEPTH):
            made = self.maker(value)
            if made is None or not made.operands or made.name in MAPS:
                return made is not None and made.name in MAPS
            if made.name not in KEEPS and made.name not in KEEPS_MAPS:
                return False
            value = made.operands[0]
        return False


def flattens(layer: Module) -> bool:
    return layer.config.get("start_dim") == 1 and layer.config.get("end_dim") == -1


def _indices(node: ir.Subscript) -> list[str]:
    """The kind of each index: an ellipsis and None are other ones."""
    kinds = [index_kind(each) for each in indices(node)]
    return ["other" if kind == "ellipsis" else kind for kind in kinds]


def _with_one(name: str, rank: int | None, dim: Value | None) -> int | None:
    """
    How many dimensions are left of so many by `squeeze` or `unsqueeze` of one. Who squeezes a dimension says that its
    size is 1, which is believed where no more than two are left: nothing of what is said then rests on it.
    """
    if rank is None or dim is None or not isinstance(constant(dim), int):
        return None
    if name == "unsqueeze":
        return rank + 1
    return rank - 1 if 0 < rank <= 3 else None


def _reduced(rank: int | None, made: Computation) -> int | None:
    """How many dimensions of so many a sum leaves, or the like; None where they are not written."""
    dim, keeps = made.get(1, "dim", "axis"), made.get(2, "keepdim", "keepdims")
    kept = constant(keeps) if keeps is not None else False
    if rank is None or not isinstance(kept, bool):
        return None
    dims = dim.items if isinstance(dim, Sequence) else (dim,) if dim is not None else ()
    if not dims or not all(type(constant(each)) is int for each in dims):
        return None
    return rank if kept else rank - len(dims)


def _named(equation: object) -> int | None:
    """How many dimensions the equation of an `einsum` gives its result; None where it doesn't write them all."""
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return None
    return len(equation.partition("->")[2].replace(" ", ""))


def _is_number(value: Value) -> bool:
    """Whether a value is a number: also an argument that is one when it is left out, or is annotated as one."""
    if isinstance(value, (Constant, Scalar)):
        return True
    source = value.source if isinstance(value, Unknown) else None
    if not isinstance(source, ir.Parameter):
        return False
    if isinstance(source.annotation, ir.Name) and source.annotation.id in ("float", "int"):
        return True
    return isinstance(source.default, ir.Constant) and isinstance(source.default.value, (int, float))


def _sizes(given: tuple[Value, ...]) -> int | None:
    """How many sizes `view` is given: one that is no number may be all of them."""
    if len(given) == 1:
        if isinstance(given[0], Sequence) and given[0].items is not None:
            return len(given[0].items)
        return 1 if isinstance(given[0], (Constant, Scalar)) else None
    return len(given) or None
