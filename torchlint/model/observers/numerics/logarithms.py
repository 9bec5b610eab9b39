"""Sees logarithms and exponentials put together by hand, where torch has one function that is stable."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from typing import Final

from torchlint.model.events.numerics import LogarithmComposed, Stable
from torchlint.model.observers.numerics.bounds import CHOSEN, Bounds, BoundsOf, written_number
from torchlint.model.observers.numerics.broadcasts import COMPARISONS
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.machine import Machine
from torchlint.model.state.tensors import Storage, Write
from torchlint.model.state.values import Tensor, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import here, near
from torchlint.syntax.spelling import identifier, same
from torchlint.truth import Truth

_WHOLE: Final = frozenset(
    {"arange", "argmax", "argmin", "argsort", "bincount", "ceil", "floor", "numel", "randint", "round"}
)
_TO_FLOAT = frozenset({"float", "double", "half"})
_KEEPING = frozenset({"abs", "clone", "detach", "max", "min", "sum", "unsqueeze", "view"})
_MOST_MADE = 1_000
_PICKING = frozenset(
    [
        "clamp",
        "contiguous",
        "expand",
        "flatten",
        "float",
        "getitem",
        "masked_fill",
        "permute",
        "reshape",
        "squeeze",
        "to",
        "transpose",
        "unsqueeze",
        "view",
        "where",
    ]
)
_MOST_PICKED = 8
_GUARDS: Final = frozenset({"isinf", "isposinf", "isneginf", "isfinite", "isnan", "nan_to_num", "==", "!="})
"""What asks of a result whether it has overflowed: it is replaced where it has."""
_LIMITS = frozenset({"clamp", "clamp_max", "clip", "fmin", "hardtanh", "min", "minimum"})
_MENDING: Final = frozenset({"clamp", "clamp_min", "clip", "gather", "maximum"})
"""What takes the infinite entries out of a result, or reads some entries of it alone: of what was drawn, say."""
_DIVISIONS: Final = frozenset({"/", "div", "divide", "true_divide"})
_SUBTRACTIONS = frozenset({"-", "-=", "sub", "subtract"})
_ROUNDED = frozenset({"log_softmax", "logsigmoid", "logsumexp"})
"""What takes the logarithm of something that may be 0."""
_OVERFLOWS = 88.0
"""Of float32, the default."""
_LARGEST_LOGIT = 16.0
"""Of float32: the sigmoid of a larger one rounds to 1."""


_DIFFERENTIATES = re.compile(r"backward|requires_grad|autograd|\bgrad\(|\bModule\b|Parameter\b|\boptim\b|Optimizer\b")
"""What a file mentions that has to do with gradients, or that others differentiate."""
_REFERENCE = re.compile(r"(?:^|_)(?:refs?|reference|naive|expected|decomps?|decomposition|decomposed)(?:_|$)")


class Logarithms(Computations):
    """Raises `LogarithmComposed`."""

    words = ("log", "exp")
    concerns = (
        near("log log1p", "softmax sigmoid sum logsumexp +Softmax +Sigmoid"),
        here("log", "+"),
        here("exp", "- +"),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._waiting: list[tuple[Computation, Computation, LogarithmComposed]] = []
        self._divisors: list[Computation] = []
        self._mended: list[Computation] = []
        self._lowered: list[Storage] = []
        self._of_lowered: list[Computation] = []

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if write.op.rstrip("_") in _SUBTRACTIONS:
            self._lowered.append(tensor.storage)

    def concluded(self) -> None:
        for made, inner, event in self._waiting:
            divides = event.stable in _ROUNDED and any(inner is each for each in self._divisors)
            mended = event.infers and any(made is each for each in self._mended)
            self.machine.emit(replace(event, divides=divides, mended=mended) if divides or mended else event)
        self._waiting.clear()
        self._mended.clear()
        self._divisors.clear()
        self._lowered.clear()
        self._of_lowered.clear()

    def computed(self, made: Computation) -> None:
        if made.name == "exp" and self._is_lowered(made.get(0, "input")):
            self._of_lowered.append(made)
        if made.name in _DIVISIONS and len(made.operands) > 1:
            divisor = self.behind_views(made.operands[1])
            if divisor is not None:
                self._divisors.append(divisor)
        if made.name in _MENDING and made.operands and (mended := self.maker(made.operands[0])) is not None:
            self._mended.append(mended)
        if made.name == "where" and len(made.operands) == 3 and self._waiting:
            self._discard(made)
        if made.name in _GUARDS and self._waiting:
            asked = [self.maker(value) for value in made.operands]
            self._waiting = [each for each in self._waiting if not any(each[0] is one for one in asked)]
        elif made.name in ("log", "log1p") and made.how in ("function", "method") and not made.keywords:
            sigmoid = self._taken_from_one(made)
            if sigmoid is not None:
                self._found(made, sigmoid, "logsigmoid", "1 - sigmoid(x)", (), complement=True)
            elif made.name == "log":
                self._logarithm(made)
        elif made.name in ("-", "+") and made.how == "operator":
            self._difference(made)

    def _discard(self, chosen: Computation) -> None:
        """`torch.where(x < 20, log(1 + exp(x)), x)` discards what has overflowed, and not the NaN of its gradient."""
        waiting, self._waiting = self._waiting, []
        for made, inner, event in waiting:
            at = next((at for at in (1, 2) if self.maker(chosen.operands[at]) is made), 0)
            exponential = next((each for each in map(self.maker, inner.operands) if each and each.name == "exp"), None)
            overflown = exponential is not None and event.stable == "softplus"
            if not at or not overflown or not _drops(chosen.operands[0], exponential, kept_if=at == 1):
                self._waiting.append((made, inner, event))
            elif event.recorded:
                infers = event.infers or _DIFFERENTIATES.search(self.machine.program.text) is None
                self._waiting.append((made, inner, replace(event, discarded=True, infers=infers)))

    def _is_lowered(self, value: Value | None) -> bool:
        """Whether something was subtracted in place from a value, of which nobody may know what it is."""
        tensor = self.tensor(value)
        source = tensor.origin if tensor is not None else value.source if isinstance(value, Unknown) else None
        if isinstance(source, ir.AugmentedAssign) and source.op == "-":
            return True
        return tensor is not None and any(each is tensor.storage for each in self._lowered)

    def _logarithm(self, made: Computation) -> None:
        inner = self.maker(made.get(0))
        if inner is None:
            return
        if inner.name in ("softmax", "sigmoid") and self._is_never_rounded(inner):
            return
        if inner.name == "softmax":
            self._found(made, inner, "log_softmax", "softmax", (inner.written(0, "input"),), _arguments(inner))
        elif inner.name == "sigmoid":
            self._found(made, inner, "logsigmoid", "sigmoid", (inner.written(0, "input"),))
        elif inner.name == "+" and inner.how == "operator":
            self._of_sum(made, inner)
        elif inner.name in ("sum", "logsumexp"):
            self._of_reduction(made, inner)

    def _taken_from_one(self, made: Computation) -> Computation | None:
        """The sigmoid whose complement a logarithm takes: `log(1 - p)`, `log1p(-p)`."""
        inner = self.maker(made.get(0))
        if inner is None or not inner.operands or inner.how == "layer":
            return None
        if made.name == "log":
            negated = inner.name == "-" and len(inner.operands) == 2 and _is_literal(inner, 0, 1)
        else:
            negated = len(inner.operands) == 1 and inner.name in ("-", "neg", "negative")
        sigmoid = self.maker(inner.operands[-1]) if negated else None
        if sigmoid is None or sigmoid.name != "sigmoid":
            return None
        bounds = BoundsOf(self.maker, self.machine.guard).of(sigmoid.get(0, "input"))
        return None if bounds.high <= _LARGEST_LOGIT or CHOSEN / 10 <= bounds.high < inf else sigmoid

    def _is_never_rounded(self, inner: Computation) -> bool:
        """Whether what a softmax or a sigmoid is given has bounds, so that nothing of it rounds to 0."""
        bounds = BoundsOf(self.maker, self.machine.guard).of(inner.get(0, "input"))
        return _is_chosen(bounds.high - bounds.low) if inner.name == "softmax" else _is_chosen(-bounds.low)

    def _of_sum(self, made: Computation, inner: Computation) -> None:
        makers = [self.maker(value) for value in inner.operands]
        exponentials = [each is not None and each.name == "exp" for each in makers]
        if all(exponentials):
            if any(each is not None and self._cannot_overflow(each) for each in makers):
                return
            written = tuple(each.written(0, "input") for each in makers if each is not None)
            nested = all(self._is_written(inner, position, makers[position]) for position in (0, 1))
            self._found(made, inner, "logaddexp", "exp(a) + exp(b)", written, nested=nested)
            return
        for position in range(len(inner.operands)):
            other = 1 - position
            if not _is_literal(inner, position, 1):
                continue
            exponential = makers[other]
            if exponential is not None and exponential.name == "exp":
                if self._is_bounded(exponential):
                    continue
                nested = self._is_written(inner, other, exponential)
                self._found(made, inner, "softplus", "1 + exp(x)", (exponential.written(0, "input"),), nested=nested)
            elif not self._is_whole(inner.operands[other]):
                value = inner.operands[other]
                self._found(made, inner, "log1p", "1 + x", (inner.written(other),), value=value)

    def _cannot_overflow(self, exponential: Computation) -> bool:
        return self._is_bounded(exponential) or self._is_shifted(exponential)

    def _bounds(self, exponential: Computation) -> Bounds:
        return BoundsOf(self.maker, self.machine.guard).of(exponential.get(0, "input"))

    def _is_bounded(self, exponential: Computation) -> bool:
        """Whether an exponential cannot overflow, or has a bound that somebody chose: a clamp, a `tanh`, `-abs(x)`."""
        return _is_chosen(self._bounds(exponential).high)

    def _is_whole(self, value: Value) -> bool:
        """Whether a value is known to hold whole numbers, which have no digits to lose, or looks like it: a count."""
        for _ in range(_MOST_MADE):
            tensor, origin = self.tensor(value), self.maker(value)
            if tensor is not None and tensor.dtype in ("int", "bool"):
                return True
            if origin is None:
                return False
            if origin.name in _TO_FLOAT and self.tensor(origin.get(0)) is None:
                return True
            if origin.name not in _TO_FLOAT and origin.name not in _KEEPING:
                return origin.name in _WHOLE
            if not origin.operands:
                return False
            value = origin.operands[0]
        return False

    def _of_reduction(self, made: Computation, inner: Computation) -> None:
        exponential = self.maker(inner.get(0, "input"))
        if inner.name != "sum" or exponential is None or exponential.name != "exp":
            return
        bounds = self._bounds(exponential)
        overflows = not _is_chosen(bounds.high)
        limited = self.maker(exponential.get(0, "input"))
        # what has no lower bound may be so far below 0 that nothing is left of any exponential: distances
        vanishes = not _is_chosen(-bounds.low) and not (limited is not None and limited.name in _LIMITS)
        if self._is_shifted(exponential) or not (overflows or vanishes):
            return
        nested = self._is_written(inner, 0, exponential)
        self._found(
            made,
            inner,
            "logsumexp",
            "sum(exp(x))",
            (exponential.written(0, "input"),),
            _arguments(inner),
            nested,
            overflows=overflows,
        )

    def _is_shifted(self, exponential: Computation) -> bool:
        """
        Whether something is subtracted from what is exponentiated: the maximum, by hand, and that is stable. What only
        picks or lays out elements may come between. Or it was subtracted in place, before.
        """
        if any(each is exponential for each in self._of_lowered):
            return True
        pending = [exponential.get(0, "input")]
        for _ in range(_MOST_PICKED):
            shifted = self.maker(pending.pop(0)) if pending else None
            if shifted is not None and shifted.name.rstrip("_") in _SUBTRACTIONS:
                return True
            if shifted is not None and shifted.name in _PICKING:
                pending += shifted.operands
        return False

    def _difference(self, made: Computation) -> None:
        wanted = 1 if made.name == "-" else -1
        for position, other in ((0, 1), (1, 0)) if made.name == "+" else ((0, 1),):
            inner = self.maker(made.operands[position])
            if inner is not None and inner.name == "exp" and _is_literal(made, other, wanted):
                written, value = (inner.written(0, "input"),), inner.get(0, "input")
                self._found(made, inner, "expm1", "exp(x) - 1", written, position=position, value=value)

    def _is_written(self, made: Computation, position: int, inner: Computation | None) -> bool:
        return inner is not None and made.written(position, "input") is inner.node

    def _found(
        self,
        made: Computation,
        inner: Computation,
        stable: Stable,
        written: str,
        operands: tuple[cst.BaseExpression | None, ...],
        arguments: tuple[cst.Arg, ...] | None = (),
        nested: bool = True,
        position: int = 0,
        value: Value | None = None,
        overflows: bool = True,
        complement: bool = False,
    ) -> None:
        known = tuple(each for each in operands if each is not None)
        whole = len(known) == len(operands) and arguments is not None
        if stable in ("log1p", "expm1") and not self._is_written(made, position, inner):
            return  # the inner result has a name and other uses: a count, most often
        tensor = value if isinstance(value, Tensor) else None
        event = LogarithmComposed(
            node=made.node,
            statement=made.line,
            stable=stable,
            written=written,
            operands=known if whole else (),
            arguments=arguments or (),
            nested=whole and nested and inner.alone and not complement and self._is_written(made, position, inner),
            real=tensor is not None and tensor.dtype == "float",
            recorded=self.machine.grad_mode is not Truth.NO,
            overflows=overflows,
            inner=inner.node,
            complement=complement,
            reference=any(_is_reference(frame.definition) for frame in self.machine.stack),
            infers=self.machine.grad_mode is Truth.NO or self.machine.callers.infers(self.machine),
        )
        if self.machine.foreign_call is None and not self.machine.expected_errors:
            self._waiting.append((made, inner, self.machine.with_truth(event)))


def _drops(mask: Value, exponential: Computation | None, *, kept_if: bool) -> bool:
    """Whether a mask compares what is exponentiated with a number, and drops all that overflows."""
    test = mask.source if isinstance(mask, Unknown) else mask.origin if isinstance(mask, Tensor) else None
    if exponential is None or not isinstance(test, ir.Compare) or len(test.ops) != 1:
        return False
    call, compare = exponential.origin, COMPARISONS.get(test.ops[0])
    if not isinstance(call, ir.Call) or compare is None:
        return False
    of_method = exponential.how == "method" and isinstance(call.function, ir.Attribute)
    exponent = call.function.value if of_method and isinstance(call.function, ir.Attribute) else None
    exponent = call.arguments[0].value if exponent is None and call.arguments else exponent
    bound = written_number(test.rights[0])
    if exponent is None or bound is None or not same(test.left, exponent):
        return False
    return all(compare(each, bound) is not kept_if for each in (_OVERFLOWS, CHOSEN))


def _is_reference(definition: ir.Node) -> bool:
    """Whether a function is one to compare with, or what defines an operation for a compiler."""
    if not isinstance(definition, ir.FunctionDef):
        return False
    decorators = (each.function if isinstance(each, ir.Call) else each for each in definition.decorators)
    return any(_REFERENCE.search(name) for name in (definition.name, *map(identifier, decorators)))


def _is_chosen(largest: float) -> bool:
    """Whether a largest exponent does not overflow, or is one that somebody chose."""
    return largest <= _OVERFLOWS or CHOSEN / 10 <= largest < inf


def _is_literal(made: Computation, position: int, number: int) -> bool:
    """Whether the operand of an operator is this number, as written: what has a name may be another one elsewhere."""
    origin = made.origin
    if not isinstance(origin, ir.Binary) or isinstance(constant(made.operands[position]), bool):
        return False
    side = origin.left if position == 0 else origin.right
    return isinstance(side, (ir.Constant, ir.Unary)) and constant(made.operands[position]) == number


def _arguments(made: Computation) -> tuple[cst.Arg, ...] | None:
    """What the call takes besides its tensor; None if that is not written out (a layer's configuration)."""
    call = made.origin
    if made.how == "layer" or not isinstance(call, ir.Call):
        return None
    given = call.arguments[0 if made.how == "method" else 1 :]
    return tuple(each.origin for each in given if isinstance(each.origin, cst.Arg))
