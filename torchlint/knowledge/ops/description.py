"""
The words in which the operation table speaks: operations, their parameters, what they save.

Data and its notation in op_table.json, no behaviour. `torchlint.knowledge.ops.find` is the way in from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, cast

from torchlint.truth import Truth

Kind: TypeAlias = Literal[
    "tensor",
    "tensors",
    "int",
    "float",
    "bool",
    "number",
    "complex",
    "ints",
    "none",
    "str",
    "dtype",
    "values",
    "unknown",
    "other",
]
"""What a call's argument is: `tensors` a list or tuple of tensors, `number` an int or float nobody knows which,
`ints` a list or tuple of ints (also `torch.Size`), `values` a list or tuple of what nobody knows, `dtype` a
`torch.dtype`, `unknown` anything at all, `other` something known that is none of these (a device, a generator, a
function)."""

ParameterKind: TypeAlias = Literal["tensor", "tensors", "number", "int", "ints", "bool", "dtype", "str", "other"]
View: TypeAlias = Literal["", "view", "multi"]
Binding: TypeAlias = "dict[str, int | str]"


@dataclass(frozen=True, slots=True)
class Parameter:
    """
    A parameter as Python's caller sees it.

    Attributes
    ----------
    name
        Its name in torch's schema; the first tensor of a native function is `self` (`select` takes `input=` for it).
    kind
        What it takes. A tensor that may be left out is a `tensor` with `required` False.
    required, keyword_only
        As in a Python signature.
    nullable
        Whether None may be passed.
    wraps
        A `tensor` that may be a Python number, which torch wraps into a tensor of no dimension (`x * 2`).
    variadic
        Whether all positional arguments from here on belong to it: `x.view(2, 3)`, `torch.meshgrid(a, b)`.
    """

    name: str
    kind: ParameterKind
    required: bool = True
    keyword_only: bool = False
    nullable: bool = False
    wraps: bool = False
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """
    A tensor the user can see, kept for backward: overwritten before that backward, torch raises.

    Attributes
    ----------
    what
        A parameter's name, or "result"; with several outputs "result0", "result1", ...
    guard
        Empty: saved whenever the node is recorded. Else only if one of these parameters requires grad.
    certain
        False: saved only under some argument values; the model has to treat it as MAYBE.
    kernel
        The operation of which a fused kernel saves it, and the composed one does not; else "".
    """

    what: str
    guard: tuple[str, ...] = ()
    certain: bool = True
    kernel: str = ""


@dataclass(frozen=True, slots=True)
class Op:
    """
    One overload of an operation under one spelling.

    Attributes
    ----------
    name
        Base name: "mul" for `mul_` as well.
    spelling
        "torch.Tensor.mul_"; a method's receiver is its first parameter `self`.
    node
        "MulBackward0"; "" where nothing is recorded, or where several nodes are.
    parameters
        In Python's order.
    differentiable
        Parameters with a derivative; empty: the result never requires grad.
    perhaps_differentiable
        Parameters with a derivative under some argument values only (`target` of `poisson_nll_loss`).
    may_differentiate
        These, and the numbers of an operation that was only seen running: it may hand them on to operations that take
        tensors there (`eps` of `normalize`).
    saves
        What is saved of the tensors the caller can see: as they are after the inputs were read, and, for an in-place
        method, `result` is the receiver after the write, any other parameter is the tensor before it.
    holds_saved
        Whether a second backward raises. MAYBE: it depends on which inputs require grad; with a certain entry of
        `saves` whose guard holds it is a YES.
    writes
        Parameters written in place, where they are given: "self" of `mul_`, "out", "running_mean".
    returns_self
        The result is the receiver.
    aliases
        Parameters whose memory and version counter the result shares: YES always (`view`, `detach`), MAYBE sometimes
        (`reshape`), or the memory alone (`unsafe_split`).
    view
        What the result is where it shares memory. "view": a differentiable view; "multi": its outputs are several
        views of one base (`unbind`, `split`); "": no view, though it may share storage (`detach`), or be the argument
        itself (`dropout` in evaluation).
    outputs
        Per output, whether it is differentiable; empty: the result is no tensor.
    sequence
        The result is a tuple or list of tensors of a length that depends on the call; `outputs` has one entry for all.
    cuts
        The result never requires grad, although a floating point tensor goes in: `detach`, `argmax`, comparisons.
    probed
        Found by running torch rather than read from its derivatives.yaml: the operation is composed of others.
    """

    name: str
    spelling: str
    node: str
    parameters: tuple[Parameter, ...]
    differentiable: tuple[str, ...]
    perhaps_differentiable: tuple[str, ...]
    may_differentiate: tuple[str, ...]
    saves: tuple[Saved, ...]
    holds_saved: Truth
    writes: tuple[str, ...]
    returns_self: bool
    aliases: tuple[tuple[str, Truth], ...]
    view: View
    outputs: tuple[bool, ...]
    sequence: bool
    cuts: bool
    probed: bool


class _Unknown(Enum):
    UNKNOWN = "unknown"


UNKNOWN: Final = _Unknown.UNKNOWN


class Known:
    """
    What else a caller knows of an argument.

    Attributes
    ----------
    value
        A literal bool, str, int, float or None; a dtype as its name ("torch.int64"); else `UNKNOWN`.
    rank
        Number of dimensions of a tensor.
    contiguous
        Whether a tensor is contiguous (`Tensor.is_contiguous()`).
    dtype
        A tensor's dtype by name ("torch.float32").
    floating
        Whether a tensor's dtype is floating point or complex; follows from `dtype` where that is given.
    """

    __slots__ = ("contiguous", "dtype", "floating", "rank", "value")

    def __init__(
        self,
        value: object | None = UNKNOWN,
        rank: int | None = None,
        contiguous: bool | None = None,
        dtype: str | None = None,
        floating: bool | None = None,
    ) -> None:
        self.value = value
        self.rank = rank
        self.contiguous = contiguous
        self.dtype = dtype
        self.floating = floating

    def __repr__(self) -> str:
        return f"Known{self._all()!r}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Known) and self._all() == other._all())

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> tuple[object, ...]:
        return self.value, self.rank, self.contiguous, self.dtype, self.floating


@dataclass(frozen=True, slots=True)
class Overload:
    """
    An operation as one line of the table has it.

    Attributes
    ----------
    op
        The operation.
    opaque
        The table knows no more than its parameters.
    when
        For which arguments the line holds: (feature, is or is not, value).
    defaults
        The values of parameters that are left out, by feature.
    """

    op: Op
    opaque: bool
    when: tuple[tuple[str, bool, object], ...]
    defaults: Mapping[str, object]


_TRUTHS: Mapping[str, Truth] = {"yes": Truth.YES, "no": Truth.NO, "maybe": Truth.MAYBE}


def read_overload(spelling: str, record: Mapping[str, Any]) -> Overload:
    """An entry of the table under one of its spellings."""
    return Overload(
        op=_op(spelling, record),
        opaque=record.get("opaque", False),
        when=tuple((feature, bool(holds), value) for feature, holds, value in record.get("when", ())),
        defaults=record.get("defaults", {}),
    )


def may_differentiate(
    parameters: tuple[Parameter, ...], differentiable: tuple[str, ...], perhaps: tuple[str, ...], probed: bool
) -> tuple[str, ...]:
    """The parameters that have a derivative under some arguments only (see `Op`)."""
    if not probed or not (differentiable or perhaps):
        return perhaps
    numbers = [each.name for each in parameters if each.kind in ("number", "other") and each.name not in differentiable]
    return tuple(dict.fromkeys((*perhaps, *numbers)))


def _op(spelling: str, record: Mapping[str, Any]) -> Op:
    parameters = read_parameters(record.get("parameters", ""))
    differentiable = tuple(record.get("differentiable", "").split())
    perhaps = tuple(record.get("perhaps", "").split())
    return Op(
        name=record["name"],
        spelling=spelling,
        node=record.get("node", ""),
        parameters=parameters,
        differentiable=differentiable,
        perhaps_differentiable=perhaps,
        may_differentiate=may_differentiate(parameters, differentiable, perhaps, record.get("probed", False)),
        saves=tuple(read_saved(text) for text in record.get("saves", "").split()),
        holds_saved=_TRUTHS[record.get("holds", "no")],
        writes=tuple(record.get("writes", "").split()),
        returns_self=record.get("returns_self", False),
        aliases=tuple(_alias(text) for text in record.get("aliases", "").split()),
        view=record.get("view", ""),
        outputs=tuple(mark == "d" for mark in record.get("outputs", "d")),
        sequence=record.get("sequence", False),
        cuts=record.get("cuts", False),
        probed=record.get("probed", False),
    )


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """
    Parameters from their notation in the table: `self:tensor other:tensor|number * alpha:number= out:tensor|none=`.

    After `*` they are keyword-only; `=` has a default, `|none` takes None, `|number` wraps numbers, a leading
    `*` as in `*size:ints` is variadic.
    """
    parameters = []
    keyword_only = False
    for item in text.split():
        if item == "*":
            keyword_only = True
            continue
        name, _, rest = item.partition(":")
        kind, *flags = rest.rstrip("=").split("|")
        parameters.append(
            Parameter(
                name=name.lstrip("*"),
                kind=cast(ParameterKind, kind),
                required=not rest.endswith("="),
                keyword_only=keyword_only,
                nullable="none" in flags,
                wraps="number" in flags,
                variadic=name.startswith("*"),
            )
        )
    return tuple(parameters)


def read_saved(text: str) -> Saved:
    """A save from its notation: `self`, `other@self` (if self requires grad), `x@a,b`, `result?` (not certain)."""
    certain = not text.endswith("?")
    what, _, guard = text.rstrip("?").partition("@")
    return Saved(what, tuple(guard.split(",")) if guard else (), certain)


def _alias(text: str) -> tuple[str, Truth]:
    return text.rstrip("?"), Truth.MAYBE if text.endswith("?") else Truth.YES
