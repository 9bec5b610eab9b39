"""
What a file gives its plain names, each to be asked for where it is seen: a local of one function says nothing of the
same name in another.

Told from Python's own tree, by lines. Knows neither what values mean, nor what is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Generic, TypeAlias, TypeVar

from torchlint.syntax.bindings import arguments_of

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_MODULE = -1
T = TypeVar("T")


class Given(Generic[T]):
    """
    What is noted of the names of a file.

    Statements have to be noted with the outer ones first, and all of them before anything is asked.
    """

    def __init__(self) -> None:
        self._scopes: list[tuple[Function | ast.ClassDef, int]] = []
        """Functions and classes, each with the one around it."""
        self._around: list[int] = []
        """By line, the innermost of them."""
        self._own: dict[int, set[str]] = {}
        """By function, the names of its arguments."""
        self._elsewhere: set[tuple[int, str]] = set()
        """What a function says is of the module, or of a function around it."""
        self._noted: dict[str, dict[int, list[T]]] = {}

    def enter(self, node: ast.stmt) -> None:
        """Note the scope that a statement opens, and what it says of scopes."""
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            self._elsewhere.update((self.at(node.lineno), name) for name in node.names)
        if not isinstance(node, _SCOPES):
            return
        first, last = max(node.body[0].lineno, node.lineno + 1), node.end_lineno or node.lineno
        number = len(self._scopes)
        self._scopes.append((node, self.at(node.lineno)))
        if isinstance(node, _FUNCTIONS):
            self._own[number] = {each.arg for each in arguments_of(node.args)}
        self._around += [_MODULE] * (last + 1 - len(self._around))
        if first <= last:  # what stands on the line of the head is taken to be outside
            self._around[first : last + 1] = [number] * (last + 1 - first)

    def at(self, line: int) -> int:
        """The number of the innermost function or class around a line; -1 outside of all."""
        return self._around[line] if 0 < line < len(self._around) else _MODULE

    def note(self, name: str, line: int, value: T) -> None:
        """Note what a name is given on a line."""
        scope = self.at(line)
        if (scope, name) in self._elsewhere:
            scope = _MODULE
        self._noted.setdefault(name, {}).setdefault(scope, []).append(value)

    def scope_of(self, name: str, line: int) -> int | None:
        """The scope that a name on a line is of, of those in which it is given anything; None if it is of no such."""
        by_scope = self._noted.get(name)
        if by_scope is None:
            return None
        return next((each for each in self._seen_from(name, line) if each in by_scope), None)

    def values(self, name: str, line: int) -> list[T]:
        """What a name on a line may be given."""
        scope = self.scope_of(name, line)
        return [] if scope is None else self._noted[name][scope]

    def is_argument(self, name: str, line: int) -> bool:
        """Whether a name on a line is an argument of a function around it."""
        return any(name in self._own.get(each, ()) for each in self._seen_from(name, line))

    def _seen_from(self, name: str, line: int) -> Iterator[int]:
        """The scopes in which a name on a line is looked for, innermost first: a class only from directly in it."""
        scope, is_first = self.at(line), True
        while scope != _MODULE:
            node, outer = self._scopes[scope]
            if is_first or not isinstance(node, ast.ClassDef):
                yield scope
            if name in self._own.get(scope, ()):
                return
            scope, is_first = outer, False
        yield _MODULE
