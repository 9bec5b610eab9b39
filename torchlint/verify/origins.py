"""
Of which arguments a refused statement was computed: a name of its text, what that was assigned from, and so on.

Runs inside the child. Reads texts; evaluates nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from torchlint.verify import refusals
from torchlint.verify.inputs import OF_INSTANCE

STEPS = 8
"""Assignments are followed so far."""


def blamed(error: Exception, given: Mapping[str, Any]) -> list[str]:
    """The arguments, attributes of the instance that were made up among them, the nearest first."""
    found = _of_function(error, given)
    if found is None:
        return []
    frame, line = found
    nearest = _origins(frame.f_code.co_filename, line)
    return [name for name in nearest if name in given]


@functools.lru_cache(maxsize=256)
def _origins(filename: str, line: int) -> tuple[str, ...]:
    """The names that a statement is computed of, the nearest first."""
    tree = refusals.parsed(filename)
    chain = [] if tree is None else refusals.around(tree, line)
    function = next((each for each in reversed(chain) if isinstance(each, _FUNCTIONS)), None)
    if function is None:
        return ()
    assigned: dict[str, list[ast.expr]] = {}
    for statement in ast.walk(function):
        for name, value in _bound(statement):
            assigned.setdefault(name, []).append(value)
    names = dict.fromkeys(name for part in _parts(chain[-1]) for name in _names(part))
    seen = {**names}
    for _ in range(STEPS):
        names = dict.fromkeys(
            inner for name in names for value in assigned.get(name, ()) for inner in _names(value) if inner not in seen
        )
        seen.update(names)
    return tuple(seen)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _of_function(error: Exception, given: Mapping[str, Any]) -> tuple[FrameType, int] | None:
    """The outermost frame of the program that has the arguments, and its line."""
    wanted = {name for name in given if name.isidentifier()}
    frames = refusals.frames(error)
    return next((each for each in frames if wanted <= {*each[0].f_locals}), next(iter(frames), None))


def _parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """What of a statement is evaluated at its own line."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield child


def _names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        match each:
            case ast.Attribute(ast.Name("self"), attribute):
                yield f"{OF_INSTANCE}{attribute}"
            case ast.Name(name):
                yield name


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node gives a value, and what that is computed of."""
    targets: list[ast.expr] = []
    values: list[ast.expr] = []
    match node:
        case ast.Assign(targets, value):
            values = [value]
        case ast.AugAssign(target, _, value) | ast.For(target, value) | ast.NamedExpr(target, value):
            targets, values = [target], [value]
        case ast.AnnAssign(target, _, ast.expr() as value) | ast.comprehension(target, value):
            targets, values = [target], [value]
        case ast.withitem(value, ast.expr() as target):
            targets, values = [target], [value]
        case ast.Call(ast.Attribute(target, "append" | "extend" | "update" | "add"), values):
            targets = [target]
    for target in targets:
        for name in _names(target):
            yield from ((name, value) for value in values)
