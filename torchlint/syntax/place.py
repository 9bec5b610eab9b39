"""
Where a node of the IR stands in its file, and by which key libcst's node at the same place is found.

Python's tree and libcst's give most nodes the same place. They differ in few kinds, each by a fixed rule: a tuple and a
generator with or without their parentheses, a parameter with or without its annotation, a slice with the blank behind
it, an argument with the parentheses of its value, statements with or without the end of their last line. So such kinds
are told by a part that stands at the same place in both trees. Knows no IR.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, TypeAlias

from torchlint.syntax import cst

Key: TypeAlias = "tuple[Any, ...]"
"""The sort of a node and where it stands; lines count from 1, columns from 0, in characters."""
Spans: TypeAlias = "Mapping[cst.CSTNode, tuple[int, int, int, int]]"


class NodeWantedError(BaseException):
    """
    Somebody looks into a node, and has only its place. No `Exception`: nobody on the way may take it for a failure.
    """


class Place:
    """
    Where a node of the IR stands: what the model puts into events where a rule sees the libcst node.

    Compared by identity. It is an instance of the class of libcst nodes that stands there; whatever else is wanted of
    it raises `NodeWantedError`.

    Attributes
    ----------
    at
        The node of Python's tree.
    sort
        What of it is meant, where that is not the node itself: its line, the argument that it is the value of, ….
    """

    __slots__ = ("at", "sort")
    kind: ClassVar[str]

    def __init__(self, at: ast.AST, sort: str) -> None:
        self.at = at
        self.sort = sort

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return getattr(cst, type(self).kind)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> object:
        raise NodeWantedError


def place_kind(kind: str) -> type[Place]:
    """The class of the places of a kind of node, which is told by its name in libcst."""
    return type(f"{kind}Place", (Place,), {"__slots__": (), "kind": kind})


def is_place(node: object) -> bool:
    """Whether a node is only the place of one."""
    return issubclass(type(node), Place)


def key(place: Place, lines: Sequence[str]) -> Key:
    """The key of a place in a file of these lines."""
    node: Any = place.at
    sort = place.sort
    if sort == "module":
        return ("module",)
    if sort == "name":
        return "expression", *_name(node, lines)
    if sort == "comprehension":
        return "comprehension", *_span(node.target, lines)
    if sort == "item":
        return "item", *_start(node.context_expr, lines)
    if sort == "case":
        return "case", node.pattern.lineno
    if sort == "parameter" or sort in _BY_START:
        return sort, *_start(node, lines)
    if sort == "index":
        return "index", *_span(node.value, lines)
    if isinstance(node, ast.GeneratorExp):
        return sort, "generator", *_expression(node.elt, lines)
    return sort, *_expression(node, lines)


def span_of(place: Place, lines: Sequence[str]) -> tuple[int, int, int, int]:
    """
    From where to where the libcst node at a place stands, told without it.

    Raises
    ------
    NodeWantedError
        Only the tree tells.
    """
    node = place.at
    if place.sort == "argument":
        line, column, end_line, end_column = _bare(node, lines)
        before = lines[line - 1][:column].rstrip()
        named = _NAMED.search(before)
        if before[-1:] in ("", "*") or (named is None and before[-1] == "="):
            raise NodeWantedError
        return line, column if named is None else named.start(), end_line, end_column
    if place.sort not in _TOLD or isinstance(node, (ast.Tuple, ast.GeneratorExp, ast.Starred)):
        raise NodeWantedError
    found = _span(node, lines)
    if place.sort == "line":
        line, column, end_line, end_column = found
        if lines[line - 1][:column].strip() or lines[end_line - 1][end_column:].lstrip()[:1] == ";":
            raise NodeWantedError  # one of several on its line
    return found


_TOLD = frozenset({"expression", "alias", "slice", "statement", "line"})
"""The sorts of which both trees tell the same span; a test holds it."""


def code_at(place: Place, lines: Sequence[str]) -> str:
    """
    What libcst's node at the place of an expression is written like, told without it.

    Raises
    ------
    NodeWantedError
        Only the tree tells: parentheses around it may be its own, and its lines indented.
    """
    if place.sort != "expression":
        raise NodeWantedError
    line, column, _, end_column = _bare(place.at, lines)
    return lines[line - 1][column:end_column]


def _bare(node: ast.AST, lines: Sequence[str]) -> tuple[int, int, int, int]:
    """
    From where to where an expression stands that is on one line and has no parentheses of its own.

    Raises
    ------
    NodeWantedError
        That cannot be told, or is not so.
    """
    line, column, end_line, end_column = _span(node, lines)
    if line != end_line or "\f" in lines[line - 1] or isinstance(node, (ast.Tuple, ast.GeneratorExp, ast.Starred)):
        raise NodeWantedError
    before, after = lines[line - 1][:column].rstrip(), lines[line - 1][end_column:].lstrip()
    if before[-1:] in ("", "(") and after[:1] in ("", "#", "\\", ")"):
        called = _CALLED.search(before)
        if called is None or keyword.iskeyword(called[1]):
            raise NodeWantedError
    return line, column, end_line, end_column


_NAMED = re.compile(r"\w+[ \t]*=$")
_CALLED = re.compile(r"(\w+|[)\]])[ \t]*\($")
"""What stands before the parenthesis that opens the arguments of a call."""


def line_of(place: object) -> int:
    """The line on which a place begins; 0 of the whole file."""
    assert is_place(place)
    node: Any = place.at  # type: ignore[attr-defined]
    line: int | None = getattr(node, "lineno", None)
    if line is not None:  # of nearly all
        return line
    for part in ("target", "context_expr", "pattern"):
        node = node if hasattr(node, "lineno") else getattr(node, part, node)
    return int(getattr(node, "lineno", 0))


def _name(node: Any, lines: Sequence[str]) -> tuple[int, int, int, int]:
    """Where the name of a function or class stands, which Python's tree has no node for."""
    line, column = _start(node, lines)
    text = "\n".join([lines[line - 1].replace("\f", "")[column:], *lines[line : line + 3]])
    before = _DEFINES.match(text)
    if before is not None:
        *above, last = before[0].split("\n")
        line, column = line + len(above), len(last) if above else column + len(last)
    return line, column, line, column + len(node.name)


_DEFINES = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+")


def text_at(place: Place, lines: Sequence[str]) -> str:
    """
    What stands at a place in a file of these lines: a definition with its decorators, a line with all that is on it.

    Parentheses around an expression are none of it.
    """
    node: Any = place.at
    if place.sort == "expression" and node.lineno == node.end_lineno:
        line: str = lines[node.lineno - 1]
        if line.isascii():  # as most are
            return line[node.col_offset : node.end_col_offset]
    if place.sort == "module":
        return "\n".join(lines)
    first = last = node
    if place.sort in ("comprehension", "item", "case"):
        parts = [part for part in ast.iter_child_nodes(node) if hasattr(part, "lineno")]
        first, last = parts[0], parts[-1]
    decorators = getattr(node, "decorator_list", ())
    taken = list(lines[(decorators[0] if decorators else first).lineno - 1 : last.end_lineno])
    if place.sort != "line":
        taken[-1] = _characters(taken[-1], last.end_col_offset)
    taken[0] = taken[0].lstrip() if decorators else taken[0][len(_characters(taken[0], first.col_offset)) :]
    return "\n".join(taken)


def _characters(line: str, offset: int) -> str:
    """The beginning of a line, as many bytes long."""
    return line[:offset] if line.isascii() else line.encode()[:offset].decode(errors="replace")


_BY_START = frozenset({"statement", "line", "slice", "handler", "alias"})


def _expression(node: Any, lines: Sequence[str]) -> Key:
    if isinstance(node, ast.GeneratorExp):
        return "generator", *_expression(node.elt, lines)
    if isinstance(node, ast.Tuple):
        return "tuple", *_start(node, lines), *(_start(node.elts[-1], lines) if node.elts else ())
    return _span(node, lines)


def _start(node: Any, lines: Sequence[str]) -> tuple[int, int]:
    return node.lineno, _column(lines, node.lineno, node.col_offset)


def _span(node: Any, lines: Sequence[str]) -> tuple[int, int, int, int]:
    return (*_start(node, lines), node.end_lineno, _column(lines, node.end_lineno, node.end_col_offset))


def _column(lines: Sequence[str], line: int, offset: int) -> int:
    """Python's tree counts bytes; libcst does not count the form feeds that a line begins with."""
    text = lines[line - 1]
    if "\f" in text:
        offset -= min(offset, text[: len(text) - len(text.lstrip())].count("\f"))
        text = text.replace("\f", "")
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


@cache
def has_key(kind: type[cst.CSTNode]) -> bool:
    """Whether any place stands for nodes of a kind: most nodes are white space, commas and the like."""
    # libcst's kinds are abstract: `issubclass` would ask all that derive
    return not _KEYED.isdisjoint([each.__name__ for each in kind.__mro__])


_KEYED = frozenset({
    "BaseExpression", "Arg", "SimpleStatementLine", "BaseSmallStatement", "BaseCompoundStatement",
    "SimpleStatementSuite", "Slice", "Param", "CompFor", "WithItem", "ImportAlias", "ImportStar",
    "ExceptHandler", "ExceptStarHandler", "MatchCase", "Index", "Module",
})  # fmt: skip


def keys(node: cst.CSTNode, spans: Spans) -> Iterator[Key]:
    """The keys of a libcst node: none of a node that no place stands for."""
    if isinstance(node, cst.BaseExpression):
        yield "expression", *_expression_key(node, spans)
        if isinstance(node, cst.Subscript) and len(node.slice) > 1:  # `x[(a), (b)]`: Python's tree tells no bare tuple
            yield "expression", "tuple", *_subscripted(node, spans)
    elif isinstance(node, cst.Arg):
        yield "argument", *_expression_key(node.value, spans)
    elif isinstance(node, cst.SimpleStatementLine):
        yield "line", *spans[node.body[0]][:2]
    elif isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
        yield "statement", *spans[node][:2]
    elif isinstance(node, cst.SimpleStatementSuite):
        yield "line", *spans[node.body[0]][:2]
    elif isinstance(node, cst.Slice):
        yield "slice", *spans[node][:2]
    elif isinstance(node, cst.Param):
        yield "parameter", *spans[node.name][:2]
    elif isinstance(node, cst.CompFor):
        yield "comprehension", *_outside(node.target, spans)
    elif isinstance(node, cst.WithItem):
        yield "item", *_outside(node.item, spans)[:2]
    elif isinstance(node, (cst.ImportAlias, cst.ImportStar)):
        yield "alias", *spans[node][:2]
    elif isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
        yield "handler", *spans[node][:2]
    elif isinstance(node, cst.MatchCase):
        yield "case", spans[node][0]
    elif isinstance(node, cst.Index) and node.star:
        yield "index", *spans[node.value]
    elif isinstance(node, cst.Module):
        yield ("module",)


def _expression_key(node: cst.BaseExpression, spans: Spans) -> Key:
    if isinstance(node, cst.GeneratorExp):
        return "generator", *_expression_key(node.elt, spans)
    if isinstance(node, cst.Tuple):
        return "tuple", *_outside(node, spans)[:2], *(_last(node.elements[-1], spans) if node.elements else ())
    return spans[node]


def _outside(node: cst.BaseExpression, spans: Spans) -> tuple[int, int, int, int]:
    """The place of a node with the parentheses right around it where Python's tree counts those."""
    if not isinstance(node, (cst.Tuple, cst.GeneratorExp)) or not node.lpar:
        return spans[node]
    return (*spans[node.lpar[-1]][:2], *spans[node.rpar[0]][2:])


def _last(element: cst.BaseElement, spans: Spans) -> tuple[int, int]:
    node = element if isinstance(element, cst.StarredElement) else element.value
    return _outside(node, spans)[:2]


def _subscripted(node: cst.Subscript, spans: Spans) -> tuple[int, ...]:
    first, last = node.slice[0].slice, node.slice[-1].slice
    if not isinstance(first, cst.Index) or not isinstance(last, cst.Index):
        return spans[first][:2]
    start = spans[first.value.lpar[0] if first.value.lpar else first][:2]
    return *start, *_outside(last.value, spans)[:2]
