"""
Of which arguments a refused statement was computed: a name of its text, what that was assigned from, and so on.

Runs inside the child. Reads texts, and looks names of them up in the frame that raised; calls nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from torchlint.verify import refusals
from torchlint.verify.inputs import OF_INSTANCE

STEPS = 8
"""Assignments are followed so far."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def blamed(error: Exception, given: Mapping[str, Any]) -> list[str]:
    """The arguments, attributes of the instance that were made up among them, the nearest first."""
    found = _of_function(error, given)
    if found is None:
        return []
    parts, _ = _origins(found[0].f_code.co_filename, found[1])
    return [name for name in dict.fromkeys(name for part in parts for name in _names(part)) if name in given]


def spoken_of(error: Exception, given: Mapping[str, Any]) -> list[str]:
    """
    The tensors among the arguments that the innermost statement names which names one: by itself, or a view; behind
    these what the local variables are computed of that it names. One that a dictionary holds is `name/key`.
    """
    places = {_memory(each): name for name, each in tensors_of(given).items() if each.numel()}
    direct: dict[str, None] = {}
    computed: dict[str, None] = {}
    for frame, line in reversed(refusals.frames(error)):
        names = {**frame.f_globals, **frame.f_locals}
        parts, anew = _origins(frame.f_code.co_filename, line)
        if not direct:
            direct = dict.fromkeys(_tensors(_statement(frame.f_code.co_filename, line), names, places))
        for part in parts:
            computed |= dict.fromkeys(_tensors((part,), names, places))
            # it was an argument before it was computed anew
            computed |= dict.fromkeys(name for name in _names(part) if name in anew and name in places.values())
    return list(direct | computed)


def named_by(error: Exception, keywords: Mapping[str, Any]) -> list[str]:
    """The arguments of a constructor that the statements name which refused something, as attributes, too."""
    return [name for name in words_of(error, computed=False) if name in keywords]


def words_of(error: Exception, *, computed: bool = True) -> list[str]:
    """
    The names, attributes and keys in the statements that refused something, the innermost first; and in what these
    were computed of.
    """
    found: dict[str, None] = {}
    for frame, line in reversed(refusals.frames(error)):
        file = frame.f_code.co_filename
        parts = _origins(file, line)[0] if computed else ()
        for part in (*_statement(file, line), *parts):
            found |= dict.fromkeys(name for node in ast.walk(part) if (name := _word(node, keys=computed)))
    return list(found)


def _word(node: ast.AST, *, keys: bool) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(name):
            return name
        case ast.Constant(str() as name) if keys:
            return name
    return ""


def tensors_of(given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The tensors among the arguments, and those that dictionaries among them hold, as `name/key`."""
    found = {name: made for name, made in given.items() if isinstance(made, torch.Tensor)}
    for name, made in given.items():
        for each in [made] if isinstance(made, dict) else made if isinstance(made, list) else []:
            if isinstance(each, dict):
                found |= {f"{name}/{key}": held for key, held in each.items() if isinstance(held, torch.Tensor)}
    return found


@functools.lru_cache(maxsize=256)
def _origins(filename: str, line: int) -> tuple[tuple[ast.AST, ...], frozenset[str]]:
    """What a statement is computed of, the nearest first; and the arguments of its function that get other values."""
    tree = refusals.parsed(filename)
    chain = [] if tree is None else refusals.around(tree, line)
    function = next((each for each in reversed(chain) if isinstance(each, _FUNCTIONS)), None)
    if function is None:
        return (), frozenset()
    assigned: dict[str, list[ast.expr]] = {}
    for statement in ast.walk(function):
        for name, value in _bound(statement):
            assigned.setdefault(name, []).append(value)
    nearest = [*_parts(chain[-1])]
    found = [*nearest]
    seen: set[str] = set()
    for _ in range(STEPS):
        names = [name for name in dict.fromkeys(n for part in nearest for n in _names(part)) if name not in seen]
        seen.update(names)
        nearest = [value for name in names for value in assigned.get(name, ())]
        found += nearest
    own = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    return tuple(found), frozenset(own & assigned.keys())


def _statement(filename: str, line: int) -> tuple[ast.AST, ...]:
    """What is evaluated at a line; nothing of a definition."""
    tree = refusals.parsed(filename)
    chain = [] if tree is None else refusals.around(tree, line)
    return () if not chain or isinstance(chain[-1], (*_FUNCTIONS, ast.ClassDef)) else tuple(_parts(chain[-1]))


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


def _tensors(parts: tuple[ast.AST, ...], names: Mapping[str, Any], places: Mapping[object, str]) -> Iterator[str]:
    """Where the tensors are given that some text names: by themselves, or views."""
    for node in (node for part in parts for node in ast.walk(part)):
        value = names.get(node.id) if isinstance(node, ast.Name) else _part(node, names)
        if isinstance(value, torch.Tensor) and _memory(value) in places:
            yield places[_memory(value)]


def _part(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """What a dictionary among names has under a key, by which it is read: `batch["x"]`, `batch.x`."""
    match node:
        case ast.Subscript(ast.Name(owner), ast.Constant(str() as key)) | ast.Attribute(ast.Name(owner), key):
            held = names.get(owner)
            return dict.get(held, key) if isinstance(held, dict) else None
    return None


def _memory(tensor: torch.Tensor) -> object:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # sparse, or without memory
        return id(tensor)


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
