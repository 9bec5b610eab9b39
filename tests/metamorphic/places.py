"""
Which statement of a changed program is which of the unchanged one, though `ast` writes them on other lines.

Statements carry a number that copies keep; statements that a change adds have the number of the one beside them, or
`ADDED`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

ADDED = -1
_NUMBER = "metamorphic_number"


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements, in a fixed order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node


def numbered(text: str) -> ast.Module:
    """The program's tree, its statements numbered."""
    tree = ast.parse(text)
    for number, statement in enumerate(statements(tree)):
        setattr(statement, _NUMBER, number)
    return tree


def number_of(statement: ast.stmt) -> int:
    """The number of a statement, `ADDED` if it has none."""
    number: int = getattr(statement, _NUMBER, ADDED)
    return number


def stands_for(new: ast.stmt, old: ast.stmt) -> ast.stmt:
    """Give a statement the number of the one it replaces."""
    setattr(new, _NUMBER, number_of(old))
    return new


def written(tree: ast.Module) -> tuple[str, dict[int, int]]:
    """
    A tree's program, and the number of the statement that stands on each line.

    Of a compound statement only the lines above its body are its own.
    """
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    lines: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for old, new in zip(statements(tree), statements(ast.parse(text)), strict=True):
        first = min([new.lineno, *(each.lineno for each in getattr(new, "decorator_list", []))])
        last = new.end_lineno or first
        for line in range(first, last + 1):
            if line not in lines or last - first < sizes[line]:
                lines[line], sizes[line] = number_of(old), last - first
    return text, lines
