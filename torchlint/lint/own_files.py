"""
Whether a file that `torch.load` reads is the program's own: shipped beside its code, or written by it.

Told from the words of the path, with the local names in it replaced by what they were given. Judges nothing, and looks
at no disk.
"""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from typing import Any

from torchlint.syntax.children import fields_of, walk

_BESIDE = (
    "inspect.getfile",
    "inspect.getsourcefile",
    "importlib.resources.",
    "importlib_resources.",
    "pkg_resources.resource_filename",
    "pkgutil.get_data",
)
"""What gives the path of something that is installed with the code."""
_PROCESSED = frozenset({"self.processed_dir", "self.processed_paths"})
_BY_TRAINER = frozenset({"best_model_path", "last_model_path"})
"""Attributes of a callback: what it has written, during this very run."""
_SAME = frozenset(
    {"str", "os.fspath", "os.path.abspath", "os.path.realpath", "os.path.expanduser", "pathlib.Path", "io.BytesIO"}
)
"""What gives the place that it is given, or a file that holds the same."""
_CONTENTS = frozenset({"getvalue", "getbuffer"})
"""What gives all that has been written into a buffer."""
_DEPTH = 4
_MOST = 16
"""Ways to write one path that are compared."""


def ways(path: ast.expr, around: ast.AST, tree: ast.Module, full: Callable[[ast.AST], str]) -> dict[str, ast.expr]:
    """
    By its words, a path as it is written, and with names in it replaced by what the function, or the file, gives them.

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
    given = _Given(around, tree)
    pending: deque[tuple[ast.expr, tuple[str, ast.expr] | None, int]] = deque([(path, None, _DEPTH)])
    while pending and len(found) < _MOST:
        each, replaced, depth = pending.popleft()
        if replaced is not None:  # most of what might be replaced is never come to
            each = _replaced(each, *replaced)
        while (same := _same(each, full)) is not None:
            each = same
        if isinstance(each, ast.IfExp):
            pending += [(each.body, None, depth), (each.orelse, None, depth)]
            continue
        words = ast.unparse(each)
        if words in found:
            continue
        found[words] = each
        if depth:
            named = [
                (_words(part), part)
                for part in walk(each)
                if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load)
            ]
            for words, part in dict(named).items():  # all places of a name are replaced
                pending += [(each, (words, value), depth - 1) for value in given.to(part, words)]
    return found


def _same(place: ast.expr, full: Callable[[ast.AST], str]) -> ast.expr | None:
    """The place that an expression gives as it is, or what is in it; None if it gives another one."""
    if not isinstance(place, ast.Call):
        return None
    if len(place.args) == 1 and full(place.func) in _SAME:
        return place.args[0]
    is_content = isinstance(place.func, ast.Attribute) and place.func.attr in _CONTENTS and not place.args
    return place.func.value if is_content and isinstance(place.func, ast.Attribute) else None


def _replaced(node: Any, words: str, value: ast.expr) -> Any:
    """An expression with another one in the place of a name; nothing of either is changed, parts of both are shared."""
    if isinstance(node, (ast.Name, ast.Attribute)) and _words(node) == words:
        return value
    changed: dict[str, object] = {}
    for name in fields_of(type(node)):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            made: object = _replaced(part, words, value)
        elif isinstance(part, list):
            parts = [_replaced(each, words, value) if isinstance(each, ast.AST) else each for each in part]
            made = parts if any(map(operator.is_not, parts, part)) else part
        else:
            continue
        if made is not part:
            changed[name] = made
    if not changed:
        return node
    return ast.copy_location(type(node)(**(dict(ast.iter_fields(node)) | changed)), node)


def _words(node: ast.expr) -> str:
    """As `ast.unparse`, and quick for a dotted name."""
    parts: list[str] = []
    below = node
    while isinstance(below, ast.Attribute):
        parts.append(below.attr)
        below = below.value
    return ".".join([below.id, *reversed(parts)]) if isinstance(below, ast.Name) else ast.unparse(node)


class _Given:
    """What names, and attributes, are given in one function; of a name of the file, what that gives it."""

    def __init__(self, around: ast.AST, tree: ast.Module) -> None:
        self._around = around
        self._tree = tree

    def to(self, name: ast.Name | ast.Attribute, words: str) -> Iterator[ast.expr]:
        own = self._inside.get(words, ())
        if not own and isinstance(name, ast.Name) and words not in self._parameters:
            own = self._outside.get(words, ())
        for value in own:
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)

    @cached_property
    def _inside(self) -> dict[str, list[ast.expr]]:
        return _values(walk(self._around))

    @cached_property
    def _outside(self) -> dict[str, list[ast.expr]]:
        return _values(self._tree.body)

    @cached_property
    def _parameters(self) -> set[str]:
        return parameters(self._around)


def _values(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """By the words of a target, what it is given."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for words in dict.fromkeys(map(_words, targets)):
                found.setdefault(words, []).append(node.value)
        elif isinstance(node, ast.withitem):
            opened, name = node.context_expr, node.optional_vars
            if name is not None and isinstance(opened, ast.Call):
                found.setdefault(_words(name), []).extend(_opened(opened))
    return found


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
    return {each.arg for each in walk(around.args) if isinstance(each, ast.arg)} - {"self", "cls"}


def is_shipped(path: ast.expr, full: Callable[[ast.AST], str]) -> bool:
    """Whether a path begins at the file that it is written in, or at what is installed with it."""
    return any(
        (isinstance(part, ast.Name) and part.id == "__file__")
        or (isinstance(part, ast.Call) and full(part.func).startswith(_BESIDE))
        for part in walk(path)
    )


def is_processed(path: ast.expr) -> bool:
    """Whether a path is where a data set of PyTorch Geometric keeps what its own `process` has made."""
    return root(path) in _PROCESSED


def is_by_trainer(path: ast.expr) -> bool:
    """Whether a path is what a callback says that it has written."""
    return isinstance(path, ast.Attribute) and path.attr in _BY_TRAINER


def is_buffer(place: ast.expr, full: Callable[[ast.AST], str]) -> bool:
    """Whether a place is a buffer in memory that holds nothing yet."""
    return isinstance(place, ast.Call) and full(place.func) == "io.BytesIO" and not place.args


def is_rewound(place: ast.expr, around: ast.AST) -> bool:
    """Whether a function goes back to the beginning of what a variable holds: that is a file, or a buffer."""
    if not isinstance(place, ast.Name):
        return False
    asked = (each for each in walk(around) if isinstance(each, ast.Attribute) and each.attr == "seek")
    return any(isinstance(each.value, ast.Name) and each.value.id == place.id for each in asked)


def root(path: ast.expr) -> str:
    """The attribute of `self` that a path begins at; "" where it begins at anything else."""
    while True:
        if isinstance(path, ast.BinOp):
            path = path.left
        elif isinstance(path, ast.JoinedStr) and path.values:
            path = path.values[0]
        elif isinstance(path, (ast.FormattedValue, ast.Subscript)):
            path = path.value
        elif isinstance(path, ast.Call) and path.args and _words(path.func).endswith(("join", "Path", "str")):
            path = path.args[0]
        elif isinstance(path, ast.Call) and isinstance(path.func, ast.Attribute):
            path = path.func.value
        else:
            break
    words = _words(path) if isinstance(path, ast.Attribute) else ""
    return words if words.startswith("self.") else ""


def bound_in(around: ast.AST) -> set[str]:
    """The names of a function: its parameters, and what it binds."""
    return parameters(around) | {
        each.id for each in walk(around) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }


def is_settled(path: ast.expr, bound: Container[str]) -> bool:
    """Whether a path is one and the same in all functions of a class: no name that its function binds is in it."""
    names = (each.id for each in walk(path) if isinstance(each, ast.Name))
    return not isinstance(path, ast.Constant) and not any(name in bound for name in names)
