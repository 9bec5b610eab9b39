"""
Between which numbers the elements of a value lie: intervals over what the program computed, whatever it is given.

What is not known is unbounded. A bound that the program chose, but whose number is not written (a parameter of a
clamp, a number in an attribute), is `CHOSEN`: finite, and larger than any that is written. Asks the log of
computations; raises no events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp, inf, isinf, isnan, log, pi
from typing import Final, NamedTuple

from torchlint.model.state.computations import VIEWS, Computation, constant
from torchlint.model.state.guards import Guard
from torchlint.model.state.values import Choice, Constant, Scalar, Sequence, Tensor, Unknown, Value, alternatives
from torchlint.syntax import ir
from torchlint.syntax.spelling import same

CHOSEN = 1e290
_MOST_FOLLOWED = 24
_LARGEST_EXPONENT = 700.0


class Bounds(NamedTuple):
    """All elements are at least `low` and at most `high`."""

    low: float
    high: float


_ANY = Bounds(-inf, inf)
_SOME_NUMBER = Bounds(-CHOSEN, CHOSEN)
_UNIT = Bounds(-1, 1)
_POSITIVE: Final = Bounds(0, inf)
_OF_FUNCTION = {
    "sigmoid": Bounds(0, 1), "softmax": Bounds(0, 1), "softmin": Bounds(0, 1), "hardsigmoid": Bounds(0, 1),
    "log_softmax": Bounds(-inf, 0), "logsigmoid": Bounds(-inf, 0),
    "tanh": Bounds(-1, 1), "sin": Bounds(-1, 1), "cos": Bounds(-1, 1), "erf": Bounds(-1, 1), "erfc": Bounds(0, 2),
    "sign": Bounds(-1, 1), "sgn": Bounds(-1, 1), "softsign": Bounds(-1, 1), "hardtanh": Bounds(-1, 1),
    "cosine_similarity": Bounds(-1, 1), "relu6": Bounds(0, 6),
    "atan": Bounds(-pi / 2, pi / 2), "arctan": Bounds(-pi / 2, pi / 2), "asin": Bounds(-pi / 2, pi / 2),
    "arcsin": Bounds(-pi / 2, pi / 2), "acos": Bounds(0, pi), "arccos": Bounds(0, pi),
    "zeros": Bounds(0, 0), "zeros_like": Bounds(0, 0),
    "ones": Bounds(1, 1), "ones_like": Bounds(1, 1),
    "cdist": Bounds(0, inf), "dist": Bounds(0, inf), "norm": Bounds(0, inf), "vector_norm": Bounds(0, inf),
    "pairwise_distance": Bounds(0, inf), "pdist": Bounds(0, inf), "softplus": Bounds(0, inf), "sqrt": Bounds(0, inf),
    "var": Bounds(0, inf), "std": Bounds(0, inf), "hypot": Bounds(0, inf), "cosh": Bounds(1, inf),
    "normalize": _UNIT, "frac": _UNIT, "sinc": _UNIT, "one_hot": Bounds(0, 1), "eye": Bounds(0, 1),
    "bernoulli": Bounds(0, 1), "silu": Bounds(-0.3, inf), "gelu": Bounds(-0.2, inf), "mish": Bounds(-0.4, inf),
    "selu": Bounds(-1.8, inf),
}  # fmt: skip
_OF_FUNCTION |= dict.fromkeys(
    """
    mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy triplet_margin_loss margin_ranking_loss
    soft_margin_loss multi_margin_loss matrix_norm count_nonzero
    """.split(),  # noqa: SIM905
    _POSITIVE,
)
_OF_FUNCTION |= dict.fromkeys(
    """
    < <= > >= == != lt le gt ge eq ne less less_equal greater greater_equal not_equal isnan isinf isfinite
    logical_and logical_or logical_not logical_xor isclose isin
    """.split(),  # noqa: SIM905
    Bounds(0, 1),
)
_OF_LAYER = {
    "CosineSimilarity": "cosine_similarity", "PairwiseDistance": "pairwise_distance", "ReLU6": "relu6",
    "Hardtanh": "hardtanh", "Hardsigmoid": "hardsigmoid", "Softsign": "softsign", "Mish": "mish", "SELU": "selu",
}  # fmt: skip
_LENGTHS = frozenset({"norm", "vector_norm"})
_KEEPING = VIEWS | frozenset(
    """
    [] getitem mean median amax amin gather index_select masked_select take take_along_dim roll flip tril triu diagonal
    repeat tile sort expand clone_ requires_grad_ chunk split unbind detach_ item tolist unfold nan_to_num
    """.split()  # noqa: SIM905
)
_EXTREMES = frozenset({"max", "amax", "logsumexp", "cummax"})
_MADE = frozenset({"tensor", "as_tensor", "full", "full_like"})
_OPERATORS = {"add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "div": "/", "true_divide": "/",
              "negative": "neg", "absolute": "abs", "pow": "**", "clip": "clamp", "fmin": "minimum", "fmax": "maximum",
              "matmul": "@", "mm": "@", "bmm": "@", "dot": "@"}  # fmt: skip


class BoundsOf:
    """Asks for the bounds of values, by the computations that `maker` finds."""

    def __init__(self, maker: Callable[[Value | None], Computation | None], guard: Guard) -> None:
        self._maker = maker
        self._guard = guard
        self._left = _MOST_FOLLOWED

    def of(self, value: Value | None) -> Bounds:
        """The bounds of all elements of a value."""
        if isinstance(value, Choice):
            options = [option for _, option in alternatives(value, self._guard)]
            return _hull(self.of(each) for each in options) if options else _ANY
        if isinstance(value, Constant):
            return _of_number(value.value)
        if isinstance(value, Scalar) or _is_setting(value):
            return _SOME_NUMBER
        picked = _of_picked(value)
        made = self._maker(value)
        if made is None or self._left <= 0:
            return picked
        self._left -= 1
        bounds = self._of_computation(made)
        if isnan(bounds.low) or isnan(bounds.high):
            return picked
        return Bounds(max(bounds.low, picked.low), min(bounds.high, picked.high))

    def _of_computation(self, made: Computation) -> Bounds:
        name = made.name if made.name.startswith("_") else made.name.rstrip("_")
        name = _OPERATORS.get(name, name)
        name = _OF_LAYER.get(name, name) if made.how == "layer" else name
        if name in ("hardtanh", "relu6") and made.how == "layer":
            return Bounds(0, 6) if name == "relu6" else _SOME_NUMBER
        if name == "hardtanh" and (len(made.operands) > 1 or made.keywords):
            name = "clamp"
        known = _OF_FUNCTION.get(name)
        if known is not None:
            return known
        if name in _MADE:
            return self._of_made(made, name)
        if name in ("arange", "linspace"):
            return self._of_range(made)
        first = self.of(made.get(0, "input", "self"))
        if name == "sum" and self._is_of_products(made.get(0, "input", "self")):
            return _UNIT
        if name in _KEEPING:
            return first
        if name in _BY_FIRST:
            return _BY_FIRST[name](first)
        if name == "clamp" or name in ("clamp_min", "clamp_max"):
            return self._of_clamp(made, name, first)
        if name in ("minimum", "maximum", "min", "max"):
            if len(made.operands) < 2 or isinstance(made.operands[1], Constant):
                return first  # over all elements, or a dimension
            first, other = self._limit(made.operands[0]), self._limit(made.operands[1])
            chosen = min if name.startswith("min") else max
            return Bounds(chosen(first.low, other.low), chosen(first.high, other.high))
        if name in ("where", "masked_fill"):
            parts = made.operands[1:3] if name == "where" and made.how == "function" else (made.get(0), made.get(2))
            return _hull(self.of(each) for each in parts)
        if name in ("cat", "stack"):
            given = made.get(0, "tensors")
            return _hull(self.of(each) for each in given.items) if isinstance(given, Sequence) and given.items else _ANY
        if len(made.operands) > 1:
            return self._of_two(name, made, first)
        return _ANY

    def _of_two(self, name: str, made: Computation, first: Bounds) -> Bounds:
        left, right = made.operands[:2]
        if name == "**":
            return _power(first, constant(right))
        if name == "*" and left is right:
            return _square(first)
        if name == "-" and self._is_extreme_of(right, left):
            return Bounds(-inf, 0)
        second = self.of(right)
        if name in ("+", "-") and made.keywords:
            return _ANY  # `alpha`
        match name:
            case "+":
                return Bounds(first.low + second.low, first.high + second.high)
            case "-":
                return Bounds(first.low - second.high, first.high - second.low)
            case "*":
                return _product(first, second)
            case "@" if self._has_length_1(left) and self._has_length_1(right):
                return _UNIT
            case "/" if self._is_length_of(right, left):
                return _UNIT
            case "@":
                return _sum(_product(first, second))
            case "/":
                return _quotient(first, second)
        return _ANY

    def _is_extreme_of(self, value: Value | None, whole: Value) -> bool:
        """Whether a value is the maximum of another one: nothing of that is larger."""
        for _ in range(4):
            made = self._maker(value)
            if made is None or not made.operands:
                return False
            if made.name in _EXTREMES:
                return made.operands[0] is whole
            if made.name not in VIEWS and made.name != "[]":
                return False
            value = made.operands[0]
        return False

    def _is_length_of(self, divisor: Value, whole: Value) -> bool:
        """Whether a value is the norm of another one: no element of that is larger."""
        for _ in range(4):
            made = self._maker(divisor)
            if made is None or not made.operands:
                return False
            if made.name in _LENGTHS:
                return made.operands[0] is whole
            # `norm + eps` and `norm.clamp(min=eps)` are larger still
            added = made.name == "+" and len(made.operands) == 2 and self.of(made.operands[1]).low >= 0
            if made.name not in VIEWS and made.name not in ("clamp", "clamp_min") and not added:
                return False
            if made.name == "clamp" and (len(made.operands) > 2 or "max" in made.keywords):
                return False
            divisor = made.operands[0]
        return False

    def _has_length_1(self, value: Value) -> bool:
        """Whether a value holds vectors of length 1, so that no product of two is larger: `normalize(x).t()`."""
        for _ in range(4):
            made = self._maker(value)
            if made is None or not made.operands:
                return False
            if made.name == "normalize":
                power = made.get(1, "p")
                return power is None or constant(power) == 2
            if made.name in _OPERATORS or made.name == "/":
                return made.name in ("/", "div") and self._is_length_of(made.operands[1], made.operands[0])
            if made.name not in VIEWS and made.name != "[]":
                return False
            value = made.operands[0]
        return False

    def _is_of_products(self, value: Value | None) -> bool:
        """Whether a value is the product of two that hold vectors of length 1: its sum over them is a cosine."""
        made = self._maker(value)
        if made is None or _OPERATORS.get(made.name, made.name) != "*" or len(made.operands) != 2:
            return False
        return all(map(self._has_length_1, made.operands))

    def _of_range(self, made: Computation) -> Bounds:
        """Of numbers that lie between two that are written."""
        ends = [constant(each) for each in made.operands[: 2 if len(made.operands) > 1 else 1]]
        numbers = [float(each) for each in ends if isinstance(each, (int, float))]
        if not ends or len(numbers) < len(ends) or made.keywords.keys() & {"start", "end"}:
            return _ANY
        if len(numbers) == 1:
            numbers.append(0.0)
        return Bounds(min(numbers), max(numbers))

    def _of_clamp(self, made: Computation, name: str, of: Bounds) -> Bounds:
        least = None if name == "clamp_max" else made.get(1, "min", "min_val")
        most = (
            made.get(1, "max")
            if name == "clamp_max"
            else None
            if name == "clamp_min"
            else made.get(2, "max", "max_val")
        )
        low, high = of
        if least is not None and constant(least) is not None:
            floor = self.of(least) if isinstance(least, (Constant, Scalar)) else _SOME_NUMBER
            low, high = max(low, floor.low), max(high, floor.high)
        if most is not None and constant(most) is not None:
            ceiling = self.of(most)
            ceiling = _SOME_NUMBER if ceiling.high == inf else ceiling
            low, high = min(low, ceiling.low), min(high, ceiling.high)
        return Bounds(low, high)

    def _of_made(self, made: Computation, name: str) -> Bounds:
        """Of a number; a list of them, and what is drawn, stands in for other data."""
        return self.of(made.get(1, "fill_value") if name.startswith("full") else made.get(0, "data"))

    def _limit(self, value: Value) -> Bounds:
        """Of what another value is limited to: somebody has chosen it."""
        made, bounds = self._maker(value), self.of(value)
        return _SOME_NUMBER if bounds == _ANY and made is not None and made.name in _MADE else bounds


def _is_setting(value: Value | None) -> bool:
    """Whether a value is an argument that is a number where nobody gives another: `margin=1.0`."""
    written = value.source if isinstance(value, Unknown) else None
    return (
        isinstance(written, ir.Parameter)
        and written.default is not None
        and written_number(written.default) is not None
    )


def _of_picked(value: Value | None) -> Bounds:
    """Of what a mask picked: `x[x < 0]` is below 0, and so is `x[m]` where `m = x < 0`, and `x[~m]` of `m = x >= 0`."""
    if isinstance(value, Unknown):
        part, masks = value.source, [value.picked_by]
    elif isinstance(value, Tensor):
        part, masks = value.origin, list(value.inputs[1:])
    else:
        return _ANY
    if not isinstance(part, ir.Subscript):
        return _ANY
    low, high = _ANY
    for mask in masks:
        test = mask.source if isinstance(mask, Unknown) else mask.origin if isinstance(mask, Tensor) else None
        inverted = isinstance(test, ir.Unary) and test.op == "~"
        if isinstance(test, ir.Unary) and inverted:
            of = mask.inputs[0].origin if isinstance(mask, Tensor) and mask.inputs else test.operand
            test = of if isinstance(of, ir.Compare) else test.operand
        if not isinstance(test, ir.Compare) or len(test.ops) != 1 or not same(test.left, part.value):
            continue
        number = written_number(test.rights[0])
        if number is not None and test.ops[0][0] == ("<" if not inverted else ">"):
            high = min(high, number)
        elif number is not None and test.ops[0][0] == (">" if not inverted else "<"):
            low = max(low, number)
    return Bounds(low, high)


def written_number(node: ir.Expression) -> float | None:
    """A number that is written out."""
    if isinstance(node, ir.Unary) and node.op == "-":
        number = written_number(node.operand)
        return None if number is None else -number
    value = node.value if isinstance(node, ir.Constant) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _hull(all_of: Iterable[Bounds]) -> Bounds:
    known = list(all_of)
    return Bounds(min(each.low for each in known), max(each.high for each in known)) if known else _ANY


def _of_number(value: object) -> Bounds:
    if isinstance(value, (bool, int, float)) and not isnan(value) and abs(value) < CHOSEN:
        return Bounds(float(value), float(value))
    return _ANY


def _times(one: float, other: float) -> float:
    if one == 0 or other == 0:
        return 0.0
    made = one * other
    # what is chosen is finite, and so is a product of it
    return made if isinf(one) or isinf(other) else max(-CHOSEN, min(made, CHOSEN))


def _product(first: Bounds, second: Bounds) -> Bounds:
    corners = [_times(one, other) for one in first for other in second]
    return Bounds(min(corners), max(corners))


def _quotient(first: Bounds, second: Bounds) -> Bounds:
    if second.low > 0 or second.high < 0:
        return _product(first, Bounds(1 / second.high, 1 / second.low))
    # 0 is no number to divide by, but may be all that was rounded; only the signs are known
    if second.low >= 0:
        return _product(_sign(first), Bounds(0, inf))
    if second.high <= 0:
        return _product(_sign(first), Bounds(-inf, 0))
    return _ANY


def _sign(of: Bounds) -> Bounds:
    return Bounds(0 if of.low >= 0 else -inf, 0 if of.high <= 0 else inf)


def _sum(of: Bounds) -> Bounds:
    """Of any number of such elements."""
    return _sign(of)


def _negative(of: Bounds) -> Bounds:
    return Bounds(-of.high, -of.low)


def _absolute(of: Bounds) -> Bounds:
    return Bounds(max(of.low, -of.high, 0), max(-of.low, of.high))


def _square(of: Bounds) -> Bounds:
    size = _absolute(of)
    return Bounds(_times(size.low, size.low), _times(size.high, size.high))


def _power(of: Bounds, power: object) -> Bounds:
    if isinstance(power, bool) or not isinstance(power, (int, float)):
        return _ANY if of.low < 0 else Bounds(0, inf)
    if power == 2:
        return _square(of)
    if power % 2 == 0 or of.low >= 0:
        return Bounds(0, inf)
    return _ANY


def _relu(of: Bounds) -> Bounds:
    return Bounds(max(of.low, 0), max(of.high, 0))


def _exponential(of: Bounds) -> Bounds:
    return Bounds(0, exp(of.high) if of.high < _LARGEST_EXPONENT else inf)


def _logarithm(of: Bounds) -> Bounds:
    return Bounds(log(of.low) if of.low > 0 else -inf, log(of.high) if 0 < of.high < inf else inf)


def _itself(of: Bounds) -> Bounds:
    return of


def _with_zero(of: Bounds) -> Bounds:
    return Bounds(min(of.low, 0), max(of.high, 0))


_BY_FIRST: dict[str, Callable[[Bounds], Bounds]] = {
    "neg": _negative, "abs": _absolute, "relu": _relu, "exp": _exponential, "sum": _sum, "cumsum": _sum,
    "nansum": _sum, "square": _square, "log": _logarithm,
    **dict.fromkeys(("max_pool1d", "max_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d"), _itself),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d"), _with_zero),
}  # fmt: skip
