"""
What autograd does with each operation of torch: what it saves, writes, shares and cuts.

The facts come from `op_table.json`, which `python -m torchlint.optable.__main__ --write` generates from torch itself
(see docs/op-table.md) and which is read at the first question. Here is only the reading of it: spelling to
operations, and call to operation. It never imports torch, and it does not know what a program does with a result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias, cast

from torchlint.knowledge.ops.binding import applies, bind, keywords_of, merge
from torchlint.knowledge.ops.description import (
    UNKNOWN,
    Binding,
    Kind,
    Known,
    Op,
    Overload,
    Parameter,
    Saved,
    View,
    read_overload,
)
from torchlint.truth import Truth

__all__ = [
    "TABLE",
    "UNKNOWN",
    "Binding",
    "Kind",
    "Known",
    "Op",
    "Parameter",
    "Saved",
    "View",
    "asks_for_more",
    "find",
    "has_inplace_twin",
    "is_one_node",
    "is_tensor_method",
    "keywords",
    "last_node_holds",
    "operator_spelling",
    "passes_gradient_back",
    "select",
    "spellings",
    "takes_no_number",
    "torch_version",
    "use_table",
]

TABLE = Path(__file__).with_name("op_table.json")


@lru_cache(maxsize=1 << 13)
def find(spelling: str) -> tuple[Op, ...]:
    """
    The overloads of a spelling, in the order in which torch tries them; empty if the table has none.

    Spellings are qualified names (`torch.add`, `torch.Tensor.add_`, `torch.nn.functional.linear`, `torch.linalg.norm`),
    and "getitem.basic", "getitem.advanced", "setitem.basic", "setitem.advanced" for `x[i]` and `x[i] = v`.
    """
    return tuple(overload.op for overload in _overloads(spelling) if not overload.opaque)


_ANOTHER = {"torch.selu_": "torch.nn.functional.selu_", "torch.rrelu_": "torch.nn.functional.rrelu_"}
"""Two names of one function, of which the table describes the second."""


@cache
def _overloads(spelling: str) -> tuple[Overload, ...]:
    table = _table()
    spelling = _ANOTHER.get(spelling, spelling)
    return tuple(read_overload(spelling, table["records"][index]) for index in table["spellings"].get(spelling, ()))


def torch_version() -> str:
    """The torch release the table was generated from."""
    return cast(str, _table()["torch"])


def spellings() -> frozenset[str]:
    """Every spelling the table knows."""
    return frozenset(_table()["spellings"])


def is_tensor_method(name: str) -> bool:
    """Whether `torch.Tensor` has a method or attribute of that name that the table knows."""
    return f"torch.Tensor.{name}" in _table()["spellings"]


def keywords(spelling: str) -> frozenset[str]:
    """The names of all arguments that some overload of a spelling takes; empty if the table has none."""
    return frozenset().union(*(keywords_of(each.op.parameters) for each in _overloads(spelling)))


@lru_cache(maxsize=1 << 13)
def passes_gradient_back(spelling: str) -> bool:
    """Whether a gradient comes back through an operation of torch, however it is called."""
    found = find(spelling)
    return bool(found) and all(op.differentiable and not op.cuts for op in found)


@cache
def takes_no_number(spelling: str) -> bool:
    """
    Whether a function whose first argument is all that it needs raises where that is a Python number, and no tensor:
    `torch.erf(0.5)`.
    """
    operations = find(spelling)
    return bool(operations) and all(
        each.parameters
        and each.parameters[0].kind == "tensor"
        and each.parameters[0].required
        and not (each.parameters[0].nullable or each.parameters[0].wraps or each.parameters[0].variadic)
        and not any(other.required for other in each.parameters[1:])
        for each in operations
    )


def has_inplace_twin(name: str) -> bool:
    """Whether the method has an in-place form: `relu` has `relu_`."""
    return not name.endswith("_") and is_tensor_method(name + "_")


def select(
    spelling: str,
    positional: Sequence[str],
    keywords: Mapping[str, str],
    known: Mapping[int | str, Known] | None = None,
) -> tuple[Op, Binding] | None:
    """
    The operation a call runs, and which argument each of its parameters gets.

    Parameters
    ----------
    spelling
        As for `find`. For a method `positional[0]` is the receiver; for "getitem.*" it is the tensor, then the index.
    positional, keywords
        The `Kind` of each argument.
    known
        More about some arguments, by position or keyword. Some operations save by it: `dropout` by `training`,
        `pad` by `mode`, `matmul` by the ranks and layouts of its operands.

    Returns
    -------
    The operation and, per parameter that is given, a position or a keyword (of a variadic parameter the first
    position). None if the table has no overload that takes such arguments or knows nothing of it, or if several are
    possible that do not even agree on which outputs there are, what is written or whether the result requires grad.

    Where several overloads are possible they are merged: what they do not share is not `certain`.
    Overloads are tried in the order of torch's own argument parser (torch/csrc/utils/python_arg_parser.cpp).
    """
    said: _Said = ()
    if known and asks_for_more(spelling):
        if not all(isinstance(each.value, _LITERALS) for each in known.values()):
            return _select(spelling, positional, keywords, known)
        said = tuple([(at, each, type(each.value)) for at, each in known.items()])
    return _selected(spelling, tuple(positional), tuple(keywords.items()), said)


@cache
def asks_for_more(spelling: str) -> bool:
    """Whether `select` may ask for more of an argument than its kind."""
    return any(overload.when for overload in _overloads(spelling))


_LITERALS = (bool, int, float, str, type(None), type(UNKNOWN))

_Said: TypeAlias = "tuple[tuple[int | str, Known, type], ...]"
"""What is known of arguments, with the class of each value: `True` and 1 are equal, and not the same to torch."""


@lru_cache(maxsize=1 << 13)
def _selected(
    spelling: str, positional: tuple[str, ...], keywords: tuple[tuple[str, str], ...], said: _Said
) -> tuple[Op, Binding] | None:
    return _select(spelling, positional, dict(keywords), {at: each for at, each, _ in said})


def _select(
    spelling: str, positional: Sequence[str], keywords: Mapping[str, str], known: Mapping[int | str, Known]
) -> tuple[Op, Binding] | None:
    possible = _possible(spelling, positional, keywords, known)
    if len(possible) > 1:
        taken = _taken(spelling, positional, keywords, known)
        possible = [each for each in possible if taken is None or id(each[0]) in taken]
    if not possible or any(overload.opaque for overload, _ in possible):
        return None
    return merge([(overload.op, binding) for overload, binding in possible])


def _possible(
    spelling: str, positional: Sequence[str], keywords: Mapping[str, str], known: Mapping[int | str, Known]
) -> list[tuple[Overload, Binding]]:
    """The overloads that take arguments of these kinds, up to the first that surely does."""
    possible: list[tuple[Overload, Binding]] = []
    for overload in _overloads(spelling):
        bound = bind(overload.op.parameters, positional, keywords)
        if bound is None:
            continue
        binding, definite = bound
        kinds = {name: positional[at] if isinstance(at, int) else keywords[at] for name, at in binding.items()}
        holds = applies(overload, binding, kinds, known)
        if holds is False:
            continue
        possible.append((overload, binding))
        if definite and holds:
            break
    return possible


_KINDS = ("tensor", "tensors", "int", "float", "bool", "complex", "ints", "none", "str", "dtype", "other")
"""What an unknown argument may be."""
_MOST_UNKNOWN = 2


def _taken(
    spelling: str, positional: Sequence[str], keywords: Mapping[str, str], known: Mapping[int | str, Known]
) -> frozenset[int] | None:
    """
    The overloads that torch's parser comes to if it is given each kind in the place of an unknown argument: one that
    takes a number is never asked where an earlier one wraps it, and none is that takes two where one is a tensor.
    None where too many are unknown.
    """
    places = [*(at for at, kind in enumerate(positional) if kind == "unknown")]
    names = [name for name, kind in keywords.items() if kind == "unknown"]
    if not 0 < len(places) + len(names) <= _MOST_UNKNOWN:
        return None
    taken: set[int] = set()
    for kinds in product(_KINDS, repeat=len(places) + len(names)):
        given = list(positional)
        for at, kind in zip(places, kinds, strict=False):
            given[at] = kind
        named = {**keywords, **dict(zip(names, kinds[len(places) :], strict=True))}
        taken.update(id(overload) for overload, _ in _possible(spelling, given, named, known))
    return frozenset(taken)


def is_one_node(op: Op) -> bool:
    """
    Whether what an operation saves is all saved by its last node: those read from derivatives.yaml are one node, and of
    those found by running torch the ones that are named as their node is (`F.elu`, EluBackward0), or that say of saving
    what one of all these with the same node says (`F.relu`, `selu`); `dropout` is a multiplication by noise.
    """
    return _is_named_as_its_node(op) or _said(op) in _single_nodes(op.node)


def _is_named_as_its_node(op: Op) -> bool:
    return not op.probed or _is_named_as(op.name, op.node) or (op.name == "dropout" and op.node == "MulBackward0")


@cache
def _is_named_as(name: str, node: str) -> bool:
    own = "".join(word.capitalize() for word in name.split("_")) + "Backward"
    return node.rstrip("0123456789") in (own, f"Native{own}")


def last_node_holds(op: Op) -> Truth:
    """
    Whether the last node of a composed operation holds saved tensors: what is said of the operations that are nothing
    but a node of that name, if that is one thing.
    """
    said = {holds for _, holds in _single_nodes(op.node)}
    return said.pop() if len(said) == 1 else Truth.MAYBE


def _said(op: Op) -> tuple[frozenset[str], Truth]:
    # `input` of torch.nn.functional is `self` of the method
    names = frozenset({"input": "self"}.get(save.what, save.what) for save in op.saves)
    return names, op.holds_saved


@cache
def _single_nodes(node: str) -> frozenset[tuple[frozenset[str], Truth]]:
    """What is said of saving by the operations that are nothing but a node of this name."""
    read = [read_overload("", record).op for record in _by_node().get(node, ())] if node else []
    return frozenset(_said(op) for op in read if not op.probed or _is_plain(op))


@cache
def _by_node() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for record in _table()["records"]:
        found.setdefault(record.get("node", ""), []).append(record)
    return found


def _is_plain(op: Op) -> bool:
    return _is_named_as_its_node(op) and len(op.outputs) == 1  # `svd` transposes one of the results of its node


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


@cache
def _table() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(TABLE.read_text(encoding="utf-8")))


def use_table(path: Path) -> None:
    """Read from another file from now on: for measuring a table that is not the committed one."""
    global TABLE
    TABLE = path
    _table.cache_clear()
    _overloads.cache_clear()
    find.cache_clear()
    asks_for_more.cache_clear()
    _selected.cache_clear()
    _single_nodes.cache_clear()
    _by_node.cache_clear()
