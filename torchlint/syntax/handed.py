"""
What a file hands to arguments by their names, and sets attributes to, whoever's they are; and what it imports.

Told from Python's own tree, each when it is first asked for. Knows no scopes, and not what values mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.syntax.children import walk
from torchlint.syntax.mentions import statements


class Handed:
    """
    What a file gives names that are no plain names of a scope.

    Parameters
    ----------
    tree
        The file.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree

    @cached_property
    def arguments(self) -> dict[str, list[ast.expr]]:
        """By name, what arguments are given by it anywhere in the file, and their defaults."""
        found: dict[str, list[ast.expr]] = {}
        for node in walk(self._tree):
            if isinstance(node, ast.keyword) and node.arg is not None:
                found.setdefault(node.arg, []).append(node.value)
            elif isinstance(node, ast.arguments):
                for argument, value in _defaults(node):
                    found.setdefault(argument.arg, []).append(value)
        return found

    @cached_property
    def attributes(self) -> dict[str, list[ast.expr]]:
        """By name, what `self` is given under it, and what stands under it in a class."""
        found: dict[str, list[ast.expr]] = {}
        for node in statements(self._tree):
            for each in node.body if isinstance(node, ast.ClassDef) else ():
                value = each.value if isinstance(each, (ast.Assign, ast.AnnAssign)) else None
                if value is not None:
                    for name in assigned(each):
                        found.setdefault(name, []).append(value)
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    of = target.value if isinstance(target, ast.Attribute) else None
                    if isinstance(target, ast.Attribute) and isinstance(of, ast.Name) and of.id == "self":
                        found.setdefault(target.attr, []).append(node.value)
        return found

    @cached_property
    def _classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in statements(self._tree) if isinstance(node, ast.ClassDef)}

    @cached_property
    def holders(self) -> set[str]:
        """The names of the file's classes, and of what is made by one at the level of the module."""
        found = set(self._classes)
        for node in self._tree.body:
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in self._classes:
                found |= assigned(node)
        return found

    @cached_property
    def bases(self) -> list[str]:
        """What the file's classes derive from, as it is written."""
        named = (base for each in self._classes.values() for base in each.bases)
        return sorted({ast.unparse(each) for each in named if isinstance(each, (ast.Name, ast.Attribute))})

    def is_imported(self, chain: ast.Attribute) -> bool:
        """Whether a chain of attributes begins with something that the file imports."""
        of: ast.expr = chain
        while isinstance(of, ast.Attribute):
            of = of.value
        return isinstance(of, ast.Name) and of.id in self._imported

    @cached_property
    def _imported(self) -> set[str]:
        imports = [each for each in statements(self._tree) if isinstance(each, (ast.Import, ast.ImportFrom))]
        return {(name.asname or name.name).partition(".")[0] for each in imports for name in each.names}


def assigned(node: ast.stmt) -> set[str]:
    """The names that an assignment binds."""
    return {name for name, _ in bindings(node)}


def bindings(node: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name that an assignment binds, and what to; of what is unpacked, all that it is a part of."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _bound(target, node.value)


def _bound(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        written = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        parts = written if len(written) == len(target.elts) else [value] * len(target.elts)
        for each, part in zip(target.elts, parts, strict=True):
            yield from _bound(each, part)


def _defaults(node: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    given = [*node.posonlyargs, *node.args]
    yield from zip(given[len(given) - len(node.defaults) :], node.defaults, strict=True)
    for argument, value in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if value is not None:
            yield argument, value
