"""
Whether a file that `torch.load` reads is the program's own: shipped beside its code, or written by it.

Told from the words of the path, with the local names in it replaced by what they were given. Judges nothing, and looks
at no disk.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

_BESIDE = (
    "inspect.getfile",
    "inspect.getsourcefile",
    "importlib.resources.",
    "importlib_resources.",
    "pkg_resources.resource_filename",
    "pkgutil.get_data",
)
"""What gives the path of something that is installed with the code."""
_BY_TRAINER = frozenset({"best_model_path", "last_model_path"})
"""Attributes of a callback: what it has written, during this very run."""
_SAME = frozenset({"str", "os.fspath", "os.path.abspath", "os.path.realpath", "os.path.expanduser", "pathlib.Path"})
"""What gives the place that it is given."""
_DEPTH = 4
_MOST = 16
"""Ways to write one path that are compared."""


def ways(path: ast.expr, around: ast.AST, tree: ast.Module, full: Callable[[ast.AST], str]) -> list[ast.expr]:
    """
    A path as it is written, and with names in it replaced by what the function, or the file, gives them.

    Parameters
    ----------
    path
        The expression.
    around, tree
        The function that it stands in, and the file.
    full
        What a chain of attributes stands for.
    """
    found: dict[str, ast.expr] = {}
    pending: list[tuple[ast.expr, int]] = [(path, _DEPTH)]
    while pending and len(found) < _MOST:
        each, depth = pending.pop(0)
        while isinstance(each, ast.Call) and len(each.args) == 1 and full(each.func) in _SAME:
            each = each.args[0]
        if isinstance(each, ast.IfExp):
            pending += [(each.body, depth), (each.orelse, depth)]
            continue
        words = ast.unparse(each)
        if words in found:
            continue
        found[words] = each
        if depth:
            for part in ast.walk(each):
                if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                    for value in _given(part, around, tree):
                        made = _Replaced(ast.unparse(part), value).visit(copy.deepcopy(each))
                        if isinstance(made, ast.expr):
                            pending.append((made, depth - 1))
    return list(found.values())


class _Replaced(ast.NodeTransformer):
    """An expression with another one in the place of a name."""

    def __init__(self, words: str, value: ast.expr) -> None:
        self.words = words
        self.value = value

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) == self.words:
            return copy.deepcopy(self.value)
        return self.generic_visit(node)


def _given(name: ast.Name | ast.Attribute, around: ast.AST, tree: ast.Module) -> Iterator[ast.expr]:
    """What a name, or an attribute, is given in the function; of a name of the file, what that gives it."""
    words = ast.unparse(name)
    own = list(_values(words, ast.walk(around)))
    if not own and isinstance(name, ast.Name) and words not in parameters(around):
        own = list(_values(words, iter(tree.body)))
    for value in own:
        yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def _values(words: str, nodes: Iterator[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(ast.unparse(target) == words for target in targets):
                yield node.value
        elif isinstance(node, ast.withitem):
            opened, name = node.context_expr, node.optional_vars
            if name is not None and isinstance(opened, ast.Call) and ast.unparse(name) == words:
                yield from _opened(opened)


def _opened(call: ast.Call) -> Iterator[ast.expr]:
    """The path that `open(path, …)`, a function of that name, or `path.open(…)` opens."""
    function, first = call.func, call.args[0] if call.args else None
    if isinstance(function, ast.Attribute) and function.attr == "open":
        yield function.value if first is None or isinstance(first, ast.Constant) else first
    elif isinstance(function, ast.Name) and function.id == "open" and first is not None:
        yield first


def parameters(around: ast.AST) -> set[str]:
    """The names that a function is given, but for the object that it is a method of."""
    if not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    return {each.arg for each in ast.walk(around.args) if isinstance(each, ast.arg)} - {"self", "cls"}


def is_shipped(path: ast.expr, full: Callable[[ast.AST], str]) -> bool:
    """Whether a path begins at the file that it is written in, or at what is installed with it."""
    return any(
        (isinstance(part, ast.Name) and part.id == "__file__")
        or (isinstance(part, ast.Call) and full(part.func).startswith(_BESIDE))
        for part in ast.walk(path)
    )


def is_by_trainer(path: ast.expr) -> bool:
    """Whether a path is what a callback says that it has written."""
    return isinstance(path, ast.Attribute) and path.attr in _BY_TRAINER


def is_settled(path: ast.expr, around: ast.AST) -> bool:
    """Whether a path is one and the same in all functions of a class: no name of the function is in it."""
    bound = parameters(around) | {
        each.id for each in ast.walk(around) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    names = {each.id for each in ast.walk(path) if isinstance(each, ast.Name)}
    return not names & bound and not isinstance(path, ast.Constant)
