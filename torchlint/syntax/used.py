"""
Where a file uses names of its own, and under which tests.

Reads Python's own tree; knows no scopes, and not what the tests ask.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from torchlint.syntax.children import children
from torchlint.syntax.text import lines_at
from torchlint.syntax.unreachable import leaves

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def names(tree: ast.Module, name: str, text: str) -> bool:
    """Whether a plain name is used anywhere in a file, whatever for; of an import that binds it not the import."""
    return any(True for _ in uses(tree, {name}, text))


def own_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module by their names, and with a dot before it methods that nobody else calls by theirs."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        for each in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(each, ast.FunctionDef) and each.name[:1] == "_" and each.name[-2:] != "__":
                yield f".{each.name}", each


def uses(tree: ast.Module, wanted: Collection[str], text: str | None) -> Iterator[tuple[str, tuple[ast.expr, ...]]]:
    """
    The names that a file uses of some, each with the tests that it is under there: around it, or before it in the block
    of a function, where they leave that.

    Parameters
    ----------
    tree
        The file.
    wanted
        Plain names, and those of attributes with a dot before them.
    text
        The file as it is written: where it does not spell a name is not looked; None: everywhere.
    """
    lines = None if text is None or not text.isascii() else _spelled(text, [each.lstrip(".") for each in wanted])
    parts: list[tuple[ast.AST, tuple[ast.expr, ...]]] = [(tree, ())]
    while parts:
        node, tests = parts.pop()
        named = node.id if isinstance(node, ast.Name) else f".{node.attr}" if isinstance(node, ast.Attribute) else ""
        if named in wanted:
            yield named, tests
        inside = (*tests, node.test) if isinstance(node, (ast.If, ast.IfExp)) else tests
        for part in children(node):
            if lines is None or not isinstance(part, ast.stmt) or is_on(part, part, lines):
                parts.append((part, inside))
            if isinstance(part, ast.If) and isinstance(node, _FUNCTIONS) and leaves(part.body):
                inside = (*inside, part.test)


def _spelled(text: str, wanted: Collection[str]) -> list[int]:
    """The lines of a text on which one of some names is written, in order."""
    found = re.finditer(rf"\b(?:{'|'.join(map(re.escape, wanted))})\b", text)
    return list(lines_at(text, (each.start() for each in found)))


def is_on(first: ast.stmt, last: ast.stmt, lines: Sequence[int]) -> bool:
    """Whether any of some lines, in order, is from one statement to another."""
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    at = bisect_left(lines, min([first.lineno, *(each.lineno for each in decorators)]))
    return at < len(lines) and lines[at] <= (last.end_lineno or last.lineno)
