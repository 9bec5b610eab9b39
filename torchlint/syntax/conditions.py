"""
Keys of branch conditions, so that two branches on the same condition can be recognised as one decision.

Reads the IR only, and decides nothing: equal keys say that two conditions are the same up to spelling and negation, not
that they have the same value at two moments. That holds only while nobody rebinds or mutates what the key reads.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from torchlint.syntax import ir

Key: TypeAlias = "tuple[str, frozenset[str], bool]"

PURE_CALLS = frozenset({"bool", "callable", "hasattr", "isinstance", "issubclass", "len", "type"})
"""Builtins that write nothing and depend on nothing but their arguments. A program that rebinds one is not noticed."""

_DEPTH = 30
_POSITIVE = {"!=": "==", "is not": "is", "not in": "in"}
_REFLECTED = {">": "<", ">=": "<="}
_SYMMETRIC = frozenset({"==", "is"})
_COMPOUND = (ir.Binary, ir.Unary, ir.Boolean, ir.Compare)


class Read(NamedTuple):
    """
    What is written in a condition.

    Attributes
    ----------
    expression
        The condition.
    key
        Its `key`.
    graded
        Of what it names the `grad`, in the order in which they are written.
    """

    expression: ir.Expression
    key: Key | None
    graded: tuple[ir.Expression, ...]


def read(expression: ir.Expression) -> Read:
    """What is written in a condition."""
    graded = [each.value for each in ir.walk(expression) if type(each) is ir.Attribute and each.attr == "grad"]
    return Read(expression, key(expression), tuple(graded))


def key(expression: ir.Expression) -> Key | None:
    """
    The key of a condition: its positive text, what it reads, and whether the condition is the negation of that text.

    `not x` has the text of `x` and is negated; `x is not y`, `x != y` and `x not in y` are the negations of `x is y`,
    `x == y` and `x in y`. `y > x` is `x < y`, `1 == x` is `x == 1`, `bool(x)` is `x`. `and` and `or` become one
    conjunction without order, by De Morgan: `a or b` is the negation of `not a and not b`. But `x >= y` is not the
    negation of `x < y`: with NaN both are false.

    What is read are names and dotted paths of attributes: `self.training` reads "self" and "self.training".

    Returns
    -------
    (text, reads, negated)
        or None if the expression is not pure. Pure are names, attributes, constants, tuple, list and set displays,
        arithmetic, comparisons, `not`, `and`, `or`, subscripts by constants and calls of `PURE_CALLS`, unless they are
        nested absurdly deep.
    """
    reads: set[str] = set()
    try:
        text, negated = _conjunction(expression, reads, 0)
    except _ImpureError:
        return None
    return _joined(text), frozenset(reads), negated


def compared_text(expression: ir.Expression) -> str | None:
    """
    The text of `x` in `x == constant`, however it is negated: no two such conditions with different constants hold at
    once. Only for texts and integers, of which no two are equal.
    """
    while isinstance(expression, ir.Unary) and expression.op == "not":
        expression = expression.operand
    if not (isinstance(expression, ir.Compare) and len(expression.ops) == 1 and expression.ops[0] in ("==", "!=")):
        return None
    sides = (expression.left, expression.rights[0])
    for constant, other in (sides, sides[::-1]):
        if isinstance(constant, ir.Constant) and type(constant.value) in (str, int):
            try:
                return _atom(other, set(), 0)
            except _ImpureError:
                return None
    return None


class _ImpureError(Exception):
    """Evaluating the expression may do something, or may differ from one time to the next."""


_Literal: TypeAlias = "tuple[str, bool]"


def _conjunction(node: ir.Expression, reads: set[str], depth: int) -> tuple[set[_Literal], bool]:
    """An expression of which only the truth counts, as literals (text, negated) that all hold, or do not if negated."""
    _descend(depth)
    if isinstance(node, ir.Unary) and node.op == "not":
        literals, negated = _conjunction(node.operand, reads, depth + 1)
        return literals, not negated
    if isinstance(node, ir.Call) and isinstance(node.function, ir.Name) and node.function.id == "bool":
        match node.arguments:
            case [ir.Argument(value=value, keyword="", star="")]:
                return _conjunction(value, reads, depth + 1)
    if isinstance(node, ir.Boolean):
        disjunction = node.op == "or"
        together: set[_Literal] = set()
        for operand in node.operands:
            literals, negated = _conjunction(operand, reads, depth + 1)
            if negated == disjunction:
                together |= literals
            else:
                together.add((_joined(literals, parenthesised=True), True))
        if len(together) == 1:
            [(text, negated)] = together
            return {(text, False)}, negated != disjunction
        return together, disjunction
    if isinstance(node, ir.Compare) and len(node.ops) == 1:
        text, negated = _comparison(node, reads, depth)
        return {(text, False)}, negated
    return {(_text(node, reads, depth), False)}, False


def _joined(literals: set[_Literal], parenthesised: bool = False) -> str:
    text = " and ".join(sorted(f"not {text}" if negated else text for text, negated in literals))
    return f"({text})" if parenthesised and len(literals) > 1 else text


def _comparison(node: ir.Compare, reads: set[str], depth: int) -> _Literal:
    op, left, right = node.ops[0], node.left, node.rights[0]
    negated = op in _POSITIVE
    op = _POSITIVE.get(op, op)
    sides = [(isinstance(side, ir.Constant), _atom(side, reads, depth + 1)) for side in (left, right)]
    if op in _REFLECTED:
        op = _REFLECTED[op]
        sides.reverse()
    elif op in _SYMMETRIC:
        sides.sort()
    return f"{sides[0][1]} {op} {sides[1][1]}", negated


def _atom(node: ir.Expression, reads: set[str], depth: int) -> str:
    text = _text(node, reads, depth)
    return f"({text})" if isinstance(node, _COMPOUND) else text


def _text(node: ir.Expression, reads: set[str], depth: int) -> str:
    """An expression whose value counts: as written, with one spelling of blanks, quotes and parentheses."""
    _descend(depth)
    match node:
        case ir.Name(id=name):
            reads.add(name)
            return name
        case ir.Constant(value=value):
            return _constant(value)
        case ir.Attribute(value=value, attr=attr):
            text = f"{_atom(value, reads, depth + 1)}.{attr}"
            if isinstance(value, (ir.Name, ir.Attribute)) and text.rpartition(".")[0] in reads:
                reads.add(text)
            return text
        case ir.Subscript(value=value, index=index):
            return f"{_atom(value, reads, depth + 1)}[{_index(index)}]"
        case ir.Call(function=ir.Name(id=name), arguments=arguments) if name in PURE_CALLS:
            if any(argument.keyword or argument.star for argument in arguments):
                raise _ImpureError
            return f"{name}({_listed([argument.value for argument in arguments], reads, depth + 1)})"
        case ir.Unary(op="not", operand=operand):
            literals, negated = _conjunction(operand, reads, depth + 1)
            text = _joined(literals)
            return f"bool({text})" if negated else f"not ({text})"
        case ir.Unary(op=op, operand=operand):
            return f"{op}{_atom(operand, reads, depth + 1)}"
        case ir.Binary(op=op, left=left, right=right):
            return f"{_atom(left, reads, depth + 1)} {op} {_atom(right, reads, depth + 1)}"
        case ir.Boolean(op=op, operands=operands):
            return f" {op} ".join(_atom(operand, reads, depth + 1) for operand in operands)
        case ir.Compare(left=left, ops=ops, rights=rights):
            links = (f" {op} {_atom(right, reads, depth + 1)}" for op, right in zip(ops, rights, strict=True))
            return _atom(left, reads, depth + 1) + "".join(links)
        case ir.Sequence(kind=kind, elements=elements) if elements or kind != "set":
            opening, closing = {"tuple": ("(", ",)"), "list": ("[", "]"), "set": ("{", "}")}[kind]
            return f"{opening}{_listed(elements, reads, depth + 1)}{closing}"
    raise _ImpureError


def _listed(nodes: list[ir.Expression], reads: set[str], depth: int) -> str:
    return ", ".join(_atom(node, reads, depth) for node in nodes)


def _index(node: ir.Expression) -> str:
    match node:
        case ir.Constant(value=value):
            return _constant(value)
        case ir.Unary(op="-" | "+" as op, operand=ir.Constant(value=value)):
            return op + _constant(value)
        case ir.Slice(lower=lower, upper=upper, step=step):
            return ":".join("" if bound is None else _index(bound) for bound in (lower, upper, step))
        case ir.Sequence(kind="tuple", elements=elements):
            return f"({', '.join(_index(element) for element in elements)},)"
    raise _ImpureError


def _constant(value: object) -> str:
    if value is ...:
        return "..."
    # A literal beyond the range of floats would otherwise be spelled like the name `inf`.
    return repr(value).replace("inf", "1e999") if isinstance(value, (float, complex)) else repr(value)


def _descend(depth: int) -> None:
    if depth > _DEPTH:
        raise _ImpureError
