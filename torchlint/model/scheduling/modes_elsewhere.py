"""
In which grad mode the other files of a package call a function, as their texts say. Evaluates nothing.

By names alone: whatever has the function's name is taken for it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from torchlint.syntax.children import children, first_line
from torchlint.syntax.text import lines_of

_OFF: Final = ("no_grad", "inference_mode")


def is_called_with_grad_mode_off(name: str, mentioning: Callable[[str], Iterator[tuple[str, str]]]) -> bool:
    """
    Whether other files of its package call a function, and all of them in a function decorated with `no_grad` or under
    it. Scripts say nothing: a file that lies beside them may have other users.

    Parameters
    ----------
    name
        The function's.
    mentioning
        The other files that hold a word: their paths below the root of the package, and what is in them.
    """
    if name == "forward" or name.startswith("__"):
        return False  # called by other names too
    called = False
    use = re.compile(rf"(?<!\bdef )\b{re.escape(name)}\b")
    for shown, text in mentioning(name):
        if "/" not in shown:
            return False
        if use.search(text) is None:
            continue  # it defines another of that name, or has a longer word: a tree of it would say no more
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        for is_off in _modes(tree, name, _lines(text, name)):
            if not is_off:
                return False
            called = True
    return called


def _lines(text: str, word: str) -> list[int]:
    """The lines of a text that a word stands in, in their order, as Python's trees count them."""
    return [number for number, line in enumerate(lines_of(text), 1) if word in line]


def _modes(tree: ast.AST, name: str, lines: Sequence[int]) -> Iterator[bool]:
    """Of each place that names a function, whether grad mode is off there; it is named in these lines alone."""
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, inside = pending.pop()
        if isinstance(node, ast.stmt) and not _stands_in(node, lines):
            continue  # most of a file
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name == name:
                continue  # it may only hand on what it is given to one of its name
            inside = any(map(_turns_off, node.decorator_list))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            inside = inside or any(_turns_off(each.context_expr) for each in node.items)
        elif _named(node) == name:
            yield inside
        elif isinstance(node, ast.Constant) and node.value == name:
            yield False
        pending += [(each, inside) for each in children(node)]


def _stands_in(node: ast.stmt, lines: Sequence[int]) -> bool:
    """Whether a statement has a part in one of these lines."""
    first = first_line(node)
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] <= (node.end_lineno or first)


def _turns_off(node: ast.expr) -> bool:
    """`torch.no_grad`, called or not."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Call) and node.args:
        return False  # `inference_mode(flag)`
    return _named(function) in _OFF


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
