"""
What autograd does with each operation of torch: what it saves, writes, shares and cuts.

The facts come from `op_table.json`, which `python -m torchlint.runtime.op_table --write` generates from torch itself
(see docs/op-table.md) and which is read at the first question. Here is only the reading of it: spelling to
operations, and call to operation. It never imports torch, and it does not know what a program does with a result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

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
    "unknown",
    "other",
]
"""What a call's argument is: `tensors` a list or tuple of tensors, `number` an int or float nobody knows which,
`ints` a list or tuple of ints (also `torch.Size`), `dtype` a `torch.dtype`, `unknown` anything at all,
`other` something known that is none of these (a device, a generator, a function)."""

ParameterKind: TypeAlias = Literal["tensor", "tensors", "number", "int", "ints", "bool", "dtype", "str", "other"]
View: TypeAlias = Literal["", "view", "multi"]
Binding: TypeAlias = "dict[str, int | str]"

TABLE = Path(__file__).with_name("op_table.json")


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
    """

    what: str
    guard: tuple[str, ...] = ()
    certain: bool = True


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
        Parameters whose memory the result shares: YES always (`view`, `detach`), MAYBE sometimes (`reshape`).
    view
        "view": a differentiable view; "multi": its outputs are several views of one base (`unbind`, `split`);
        `detach` shares its storage but is "" here.
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


def find(spelling: str) -> tuple[Op, ...]:
    """
    The overloads of a spelling, in the order in which torch tries them; empty if the table has none.

    Spellings are qualified names (`torch.add`, `torch.Tensor.add_`, `torch.nn.functional.linear`, `torch.linalg.norm`),
    and "getitem.basic", "getitem.advanced", "setitem.basic", "setitem.advanced" for `x[i]` and `x[i] = v`.
    """
    return tuple(op for op, opaque in _overloads(spelling) if not opaque)


@cache
def _overloads(spelling: str) -> tuple[tuple[Op, bool], ...]:
    """All overloads, with whether the table knows no more than their parameters."""
    table = _table()
    records = [table["records"][index] for index in table["spellings"].get(spelling, ())]
    return tuple((_op(spelling, record), record.get("opaque", False)) for record in records)


def torch_version() -> str:
    """The torch release the table was generated from."""
    return cast(str, _table()["torch"])


def spellings() -> frozenset[str]:
    """Every spelling the table knows."""
    return frozenset(_table()["spellings"])


def is_tensor_method(name: str) -> bool:
    """Whether `torch.Tensor` has a method or attribute of that name that the table knows."""
    return f"torch.Tensor.{name}" in _table()["spellings"]


def has_inplace_twin(name: str) -> bool:
    """Whether the method has an in-place form: `relu` has `relu_`."""
    return not name.endswith("_") and is_tensor_method(name + "_")


def select(spelling: str, positional: Sequence[str], keywords: Mapping[str, str]) -> tuple[Op, Binding] | None:
    """
    The operation a call runs, and which argument each of its parameters gets.

    Parameters
    ----------
    spelling
        As for `find`. For a method `positional[0]` is the receiver; for "getitem.*" it is the tensor, then the index.
    positional, keywords
        The `Kind` of each argument.

    Returns
    -------
    The operation and, per parameter that is given, a position or a keyword (of a variadic parameter the first
    position). None if the table has no overload that takes such arguments or knows nothing of it, or if several are
    possible that do not even agree on which outputs there are, what is written or whether the result requires grad.

    Where several overloads are possible they are merged: what they do not share is not `certain`.
    Overloads are tried in the order of torch's own argument parser (torch/csrc/utils/python_arg_parser.cpp).
    """
    possible: list[tuple[Op, Binding]] = []
    for op, opaque in _overloads(spelling):
        bound = _bind(op, positional, keywords)
        if bound is None:
            continue
        if opaque:
            return None
        binding, definite = bound
        possible.append((op, binding))
        if definite:
            break
    if not possible:
        return None
    return possible[0] if len(possible) == 1 else _merge(possible)


# ---- binding -----------------------------------------------------------------------------------------------------

# What torch's argument parser takes for another name (`numpy_compatibility_arg_names` in python_arg_parser.cpp).
_ALSO: Mapping[str, tuple[str, ...]] = {
    "self": ("input", "x", "a", "x1"),
    "input": ("x", "a", "x1"),
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "other": ("x2",),
}

# Per kind of parameter, the kinds of argument it takes surely, and those it may take.
_TAKES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "tensor": (frozenset({"tensor"}), frozenset()),
    "tensors": (frozenset({"tensors"}), frozenset({"other"})),
    "number": (frozenset({"int", "float", "bool", "number", "complex"}), frozenset({"tensor"})),
    "int": (frozenset({"int"}), frozenset({"number", "tensor"})),
    "ints": (frozenset({"int", "ints"}), frozenset({"number", "tensor", "tensors"})),
    "bool": (frozenset({"bool"}), frozenset({"int", "number"})),
    "dtype": (frozenset({"dtype"}), frozenset()),
    "str": (frozenset({"str"}), frozenset()),
    "other": (frozenset({"other", "none"}), frozenset({"str", "int", "float", "number", "bool", "dtype", "ints"})),
}
_NUMBERS = frozenset({"int", "float", "bool", "number", "complex"})


def _match(parameter: Parameter, kind: str) -> bool | None:
    """True: takes it. None: may take it. False: does not."""
    if kind == "unknown":
        return None
    if kind == "none":
        return parameter.nullable or parameter.kind == "other"
    if parameter.wraps and kind in _NUMBERS:
        return True
    surely, perhaps = _TAKES[parameter.kind]
    if kind in surely:
        return True
    return None if kind in perhaps else False


def _bind(op: Op, positional: Sequence[str], keywords: Mapping[str, str]) -> tuple[Binding, bool] | None:
    binding: Binding = {}
    definite = True
    at = 0
    slots = [parameter for parameter in op.parameters if not parameter.keyword_only]
    for parameter in slots:
        if at >= len(positional):
            break
        kind = positional[at]
        match = _match(parameter, kind)
        if parameter.variadic and match is not False and kind not in ("ints", "tensors"):
            element = "int" if parameter.kind == "ints" else "tensor"
            verdicts = [_element(element, k) for k in positional[at:]]
            if False in verdicts:
                return None
            definite = definite and None not in verdicts
            binding[parameter.name] = at
            at = len(positional)
            break
        if match is False:
            return None
        definite = definite and match is True
        binding[parameter.name] = at
        at += 1
    if at < len(positional):
        return None
    names = {parameter.name: parameter for parameter in op.parameters}
    for keyword, kind in keywords.items():
        name = keyword if keyword in names else _known_as(keyword, names)
        if name is None or name in binding:
            return None
        match = _match(names[name], kind)
        if match is False:
            return None
        definite = definite and match is True
        binding[name] = keyword
    if any(parameter.required and parameter.name not in binding for parameter in op.parameters):
        return None
    return binding, definite


def _element(element: str, kind: str) -> bool | None:
    if kind == element:
        return True
    if kind == "unknown" or (element == "int" and kind in ("number", "tensor")):
        return None
    return False


def _known_as(keyword: str, names: Mapping[str, Parameter]) -> str | None:
    for name, others in _ALSO.items():
        if keyword in others and name in names:
            return name
    return None


# ---- merging -----------------------------------------------------------------------------------------------------


def _merge(possible: Sequence[tuple[Op, Binding]]) -> tuple[Op, Binding] | None:
    first, binding = possible[0][0], dict(possible[0][1])
    for op, other in possible[1:]:
        same_shape = (op.outputs, op.sequence, op.cuts, op.view, op.returns_self) == (
            first.outputs,
            first.sequence,
            first.cuts,
            first.view,
            first.returns_self,
        )
        if not same_shape or set(op.writes) & set(other) != set(first.writes) & set(binding):
            return None
        if any(binding.get(name, place) != place for name, place in other.items()):
            return None
        first = _join(first, op)
        binding.update(other)
    return first, binding


def _join(a: Op, b: Op) -> Op:
    parameters = {parameter.name: parameter for parameter in (*b.parameters, *a.parameters)}
    return replace(
        a,
        node=a.node if a.node == b.node else "",
        parameters=tuple(parameters.values()),
        differentiable=tuple(dict.fromkeys(a.differentiable + b.differentiable)),
        saves=_join_saves(a.saves, b.saves),
        holds_saved=a.holds_saved.join(b.holds_saved),
        writes=tuple(dict.fromkeys(a.writes + b.writes)),
        aliases=_join_aliases(a.aliases, b.aliases),
        probed=a.probed or b.probed,
    )


def _join_saves(a: tuple[Saved, ...], b: tuple[Saved, ...]) -> tuple[Saved, ...]:
    shared = set(a) & set(b)
    loose = {replace(saved, certain=False) for saved in (set(a) | set(b)) - shared}
    return tuple(sorted(shared | loose, key=lambda saved: (saved.what, saved.guard)))


def _join_aliases(a: tuple[tuple[str, Truth], ...], b: tuple[tuple[str, Truth], ...]) -> tuple[tuple[str, Truth], ...]:
    one, two = dict(a), dict(b)
    names = dict.fromkeys([*one, *two])
    return tuple((name, one.get(name, Truth.NO).join(two.get(name, Truth.NO))) for name in names)


# ---- operators ---------------------------------------------------------------------------------------------------

_OPERATORS: Mapping[str, tuple[str, str]] = {
    "+": ("add", "add"),
    "-": ("sub", "__rsub__"),
    "*": ("mul", "mul"),
    "/": ("div", "__rdiv__"),
    "//": ("floor_divide", "__rfloordiv__"),
    "%": ("remainder", "__rmod__"),
    "**": ("pow", "__rpow__"),
    "@": ("matmul", "__rmatmul__"),
    "<<": ("__lshift__", "__rlshift__"),
    ">>": ("__rshift__", "__rrshift__"),
    "&": ("__and__", "__and__"),
    "|": ("__or__", "__or__"),
    "^": ("__xor__", "__xor__"),
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
    "-x": ("neg", "neg"),
    "+x": ("positive", "positive"),
    "~x": ("bitwise_not", "bitwise_not"),
    "~": ("bitwise_not", "bitwise_not"),
    "+=": ("add_", "add_"),
    "-=": ("sub_", "sub_"),
    "*=": ("mul_", "mul_"),
    "/=": ("div_", "div_"),
    "//=": ("floor_divide_", "floor_divide_"),
    "%=": ("remainder_", "remainder_"),
    "**=": ("pow_", "pow_"),
    "<<=": ("__ilshift__", "__ilshift__"),
    ">>=": ("__irshift__", "__irshift__"),
    "&=": ("__iand__", "__iand__"),
    "|=": ("__ior__", "__ior__"),
    "^=": ("__ixor__", "__ixor__"),
}


def operator_spelling(op: str, reflected: bool = False) -> str:
    """
    The method an operator calls on a tensor.

    Parameters
    ----------
    op
        Binary as written ("+", "@", "<="), augmented ("+=", not "@=": there is none, Python takes "@"),
        or unary "-x", "+x", "~".
    reflected
        The tensor is the right operand and the left one is none: `2 - x`. The tensor is the first parameter either way.

    Raises
    ------
    KeyError
        for anything that is no such operator.
    """
    return "torch.Tensor." + _OPERATORS[op][reflected]


# ---- the table ---------------------------------------------------------------------------------------------------


@cache
def _table() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(TABLE.read_text(encoding="utf-8")))


_TRUTHS: Mapping[str, Truth] = {"yes": Truth.YES, "no": Truth.NO, "maybe": Truth.MAYBE}


def _op(spelling: str, record: Mapping[str, Any]) -> Op:
    return Op(
        name=record["name"],
        spelling=spelling,
        node=record.get("node", ""),
        parameters=read_parameters(record.get("parameters", "")),
        differentiable=tuple(record.get("differentiable", "").split()),
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
