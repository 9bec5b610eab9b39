"""
Tables written into a program: a text without the inside of its longest literals, in which all else keeps its place.

What such a table holds says nothing of autograd, and to follow millions of numbers takes minutes and gigabytes. Knows
Python's syntax, and nothing of torch.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from torchlint.syntax.children import fields_of
from torchlint.syntax.text import NEWLINE, Span
from torchlint.syntax.tree import python_tree

LONG = 100_000
"""So many characters of a literal are not read."""
_SHORT = 1_000
"""Of this length at most is the element that stays."""
_AT_ONCE = 64
"""Elements that are looked at as one: a literal has many."""
_REST = ", *..."
_REST_OF_DICT = ", **..."
"""What stands for the others: nobody knows how many."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """
    A text, and the places where something was left out.

    Attributes
    ----------
    text
        With as many lines as the file has, and what stands behind a literal in its column.
    left_out
        From the first element to the closing bracket.
    tree
        Of the text, if it was parsed for this already: a long one takes its time.
    """

    text: str
    left_out: tuple[Span, ...] = ()
    tree: ast.Module | None = None

    def touches(self, span: Span) -> bool:
        """Whether something that is to be changed was left out."""
        start, end = (span.line, span.column), (span.end_line, span.end_column)
        return any(
            start < (each.end_line, each.end_column) and (each.line, each.column) < end for each in self.left_out
        )


def shortened(text: str) -> Shortened:
    """The text without the inside of displays of constants that are longer than `LONG`; what is no Python stays."""
    if len(text) <= LONG:
        return Shortened(text)
    try:
        tree = python_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Shortened(text)
    places = _Places(text)
    found: list[tuple[int, int, str]] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.expr, ast.stmt)):
            start, end = places.of(node)
            if end - start <= LONG:
                continue
            inside = _inside(node, places)
            if inside is not None:
                found.append(inside)
                continue
        for name in fields_of(type(node)):
            part = getattr(node, name, None)
            if type(part) is list:
                pending += _not_short(part, places)
            elif isinstance(part, ast.AST) and not places.are_short(part, part):
                pending.append(part)
    if not found:
        return Shortened(text, tree=tree)
    found.sort()
    pieces, at = [], 0
    for start, end, rest in found:
        pieces += [text[at:start], _filled(text[start:end], rest)]
        at = end
    return Shortened("".join([*pieces, text[at:]]), tuple(places.span(start, end) for start, end, _ in found))


def _not_short(nodes: list[Any], places: _Places) -> list[ast.AST]:
    """Of the nodes in a field, those that may be long. They stand there in the order of the text."""
    found: list[ast.AST] = []
    for at in range(0, len(nodes), _AT_ONCE):
        some = nodes[at : at + _AT_ONCE]
        if not places.are_short(some[0], some[-1]):
            found += [each for each in some if isinstance(each, ast.AST) and not places.are_short(each, each)]
    return found


class _Places:
    """Where nodes stand, as offsets of characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._starts = [0, *(found.end() for found in NEWLINE.finditer(text))]

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._offset(node.lineno, node.col_offset), self._offset(*end)

    def are_short(self, first: object, last: object) -> bool:
        """Whether nodes are short, one and another and all between, as most are. A character is a byte at least."""
        if not isinstance(first, (ast.expr, ast.stmt)) or not isinstance(last, (ast.expr, ast.stmt)):
            return False
        end = last.end_lineno or last.lineno
        if first.lineno == end:
            return (last.end_col_offset or 0) - first.col_offset <= LONG
        until = self._starts[end] if end < len(self._starts) else len(self._text)
        return until - self._starts[first.lineno - 1] <= LONG

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        if self._ascii:
            return start + column
        until = self._starts[line] if line < len(self._starts) else len(self._text)
        return start + len(self._text[start:until].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))

    def at(self, offset: int) -> str:
        return self._text[offset]

    def span(self, start: int, end: int) -> Span:
        return Span(*self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        from bisect import bisect_right

        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _inside(node: ast.AST, places: _Places) -> tuple[int, int, str] | None:
    """From where to where a display can be left out, and what stands for that; None for anything else."""
    if isinstance(node, ast.Dict):
        keys = [key for key in node.keys if key is not None]
        first = node.values[0] if keys and len(keys) == len(node.values) else None
        elements, rest = [*node.values, *keys], _REST_OF_DICT  # keys are mostly plain
    elif isinstance(node, (ast.List, ast.Set, ast.Tuple)) and node.elts:
        elements, first, rest = node.elts, node.elts[0], _REST
    else:
        return None
    start, end = places.of(node)
    if first is None or places.at(end - 1) not in "])}" or places.at(start) not in "[({":
        return None
    begin, behind = places.of(first)
    if behind - begin > _SHORT or not all(map(_is_plain, elements)):
        return None
    return behind, end - 1, rest


def _is_plain(node: ast.expr) -> bool:
    """Whether a value is written as it is: a constant, or a display of such."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
        return all(map(_is_plain, node.elts))
    return False


def _filled(left_out: str, rest: str) -> str:
    """What stands for it, with as many lines, and as many columns in the last."""
    *above, last = NEWLINE.split(left_out)
    if above:
        return rest + "\n" * len(above) + " " * len(last)
    opening, closing = ', "', '": 0' if rest == _REST_OF_DICT else '"'
    return rest + opening + "." * (len(left_out) - len(rest) - len(opening) - len(closing)) + closing
