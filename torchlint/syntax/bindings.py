"""
The names that the scopes of a file bind, and what a chain of attributes stands for in one.

Knows the scopes of the language and no place of interest: the walk that looks for places asks here.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from torchlint.syntax.children import children, walk

_BUILTINS = frozenset(dir(builtins))
_BINDING_NOTHING = frozenset(
    {ast.Attribute, ast.BinOp, ast.Call, ast.Compare, ast.Constant, ast.Expr, ast.If, ast.Return, ast.Subscript}
)
"""Most of what there is: whose parts alone may bind something."""


class Scope:
    """
    The names of a module, function, class or comprehension.

    A name stands for a dotted one, or (`None`) for something else.
    """

    __slots__ = ("bound", "is_class", "outer", "stars")

    def __init__(self, outer: Scope | None, *, is_class: bool = False) -> None:
        self.outer = outer
        self.is_class = is_class
        self.bound: dict[str, str | None] = {}
        self.stars: list[str] = []

    def bind(self, name: str, stands_for: str | None) -> None:
        if name in self.bound and self.bound[name] != stands_for:
            stands_for = None
        self.bound[name] = stands_for

    def find(self, name: str) -> str | None:
        """What a name stands for here; "" if nothing binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.bound and (first or not scope.is_class):
                return scope.bound[name]
            scope, first = scope.outer, False
        return ""

    def starred(self, name: str, wanted: Container[str]) -> str:
        """What a name stands for that nothing binds but perhaps an import of everything."""
        scope: Scope | None = self
        while scope is not None:
            for source in reversed(scope.stars):
                if f"{source}.{name}" in wanted:
                    return f"{source}.{name}"
            scope = scope.outer
        return ""


class Bindings:
    """
    The scopes around the place where a walk is.

    Parameters
    ----------
    wanted
        Names in full that an import of everything may bind.
    packages
        The packages whose names count; a name of anything else stands for nothing.
    """

    def __init__(self, wanted: Container[str], packages: Collection[str]) -> None:
        self.wanted = wanted
        self.packages = packages
        self.scope = Scope(None)
        self.root = self.scope

    @contextmanager
    def inner(self, *, is_class: bool = False) -> Iterator[Scope]:
        """A new scope in the present one, and back."""
        outer = self.scope
        self.scope = Scope(outer, is_class=is_class)
        try:
            yield self.scope
        finally:
            self.scope = outer

    @property
    def is_local(self) -> bool:
        """Whether the present scope is a function's own."""
        return self.scope is not self.root and not self.scope.is_class

    def binds(self, body: Iterable[ast.AST]) -> None:
        """Note what statements bind in the present scope; functions and classes in them have their own."""
        stack = list(body)
        assigned: list[tuple[str, ast.expr]] = []
        while stack:
            node = stack.pop()
            if type(node) in _BINDING_NOTHING:
                stack += children(node)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    full = alias.name if alias.asname else bound
                    self.scope.bind(bound, full if full.partition(".")[0] in self.packages else None)
            elif isinstance(node, ast.ImportFrom):
                ours = not node.level and (node.module or "").partition(".")[0] in self.packages
                for alias in node.names:
                    if alias.name == "*":
                        if ours and node.module:
                            self.scope.stars.append(node.module)
                    else:
                        self.scope.bind(alias.asname or alias.name, f"{node.module}.{alias.name}" if ours else None)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.scope.bind(node.name, None)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                assigned.append((node.targets[0].id, node.value))
                stack.append(node.value)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:
                    self.root.bind(name, None)
            elif isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    self.scope.bind(node.id, None)
            elif isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                stack += [part for part in walk(node) if isinstance(part, ast.NamedExpr)]
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                self.scope.bind(node.name, None)
                stack += children(node)
            else:
                if isinstance(node, ast.ExceptHandler) and node.name:
                    self.scope.bind(node.name, None)
                stack += children(node)
        for name, value in reversed(assigned):  # what imports bind is known by now
            self.scope.bind(name, self.dotted(value) or None)

    def dotted(self, node: ast.AST) -> str:
        """What a chain of attributes stands for; "" if that is not of the packages."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        first = self.scope.find(node.id)
        if first == "" and node.id not in _BUILTINS:
            first = self.scope.starred(node.id, self.wanted)
        return ".".join([first, *reversed(parts)]) if first else ""


def arguments_of(arguments: ast.arguments) -> list[ast.arg]:
    """Every argument of a function, the starred ones last."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return every + [each for each in (arguments.vararg, arguments.kwarg) if each is not None]


@lru_cache(maxsize=1024)
def absolute(qualified: str, module: str, is_package: bool) -> str:
    """The full name of something that a module imports: without the dots of a relative import."""
    if qualified[:1] != ".":
        return qualified
    rest = qualified.lstrip(".")
    up = len(qualified) - len(rest) - (1 if is_package else 0)
    parts = module.split(".")
    if up >= len(parts) + (1 if is_package else 0):
        return qualified
    return ".".join([*parts[: len(parts) - up], rest] if rest else parts[: len(parts) - up])
