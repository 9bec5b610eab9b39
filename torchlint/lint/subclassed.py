"""
What a file runs when it is loaded because it derives one class from another: `__init_subclass__`.

Told from Python's own tree, of classes outside of all functions and branches. Judges nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.lint.order import Order
from torchlint.syntax.children import walk

_LEAVING = (ast.Return, ast.Raise)


def runs_as_derived(
    tree: ast.Module, order: Order, node: ast.AST, may_be_left: Callable[[ast.AST, ast.AST], bool]
) -> bool:
    """
    Whether a node in an `__init_subclass__`, and under nothing there, is come to as a later class of the file is
    derived from the one around.

    Parameters
    ----------
    tree, order
        The file, and what its nodes stand in.
    node
        The node.
    may_be_left
        Whether a part of a node may not be evaluated though that is come to.
    """
    function: ast.FunctionDef | None = None
    for above, part in order.above(node):
        if function is not None:
            return isinstance(above, ast.ClassDef) and above in tree.body and _is_derived(tree, above, function, node)
        if isinstance(above, ast.FunctionDef):
            if above.name != "__init_subclass__" or part not in above.body:
                return False
            function = above
        elif may_be_left(above, part) or isinstance(above, (ast.AsyncFunctionDef, ast.ClassDef)):
            return False
    return False


def _is_derived(tree: ast.Module, of: ast.ClassDef, function: ast.FunctionDef, node: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    if any(isinstance(each, _LEAVING) and each.lineno < line for each in walk(function)):
        return False
    return any(
        isinstance(each, ast.ClassDef)
        and each.lineno > of.lineno
        and any(isinstance(base, ast.Name) and base.id == of.name for base in each.bases)
        for each in tree.body
    )
