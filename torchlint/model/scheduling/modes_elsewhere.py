"""
In which grad mode the other files of a package call a function, as their texts say. Evaluates nothing.

By names alone: whatever has the function's name is taken for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

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
    for shown, text in mentioning(name):
        if "/" not in shown:
            return False
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        modes = list(_modes(tree, name))
        if not all(modes):
            return False
        called = called or bool(modes)
    return called


def _modes(tree: ast.AST, name: str) -> Iterator[bool]:
    """Of each place that names a function, whether grad mode is off there."""
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, inside = pending.pop()
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
        pending += [(each, inside) for each in ast.iter_child_nodes(node)]


def _turns_off(node: ast.expr) -> bool:
    """`torch.no_grad`, called or not."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Call) and node.args:
        return False  # `inference_mode(flag)`
    return _named(function) in _OFF


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
