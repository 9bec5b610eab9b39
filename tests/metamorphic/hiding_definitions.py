"""
Changes of functions and classes: moved to a module that is not there, decorated, derived, or given attributes that are
set through code nobody knows.

Each function yields the changes of its kind that a tree has room for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .changes import MODULE, Change, Place, Unknowns, places


def _definitions(tree: ast.Module) -> Iterator[Place]:
    for place in places(tree):
        if isinstance(place.node, ast.FunctionDef | ast.ClassDef):
            yield place


def moved(tree: ast.Module) -> Iterator[Change]:
    """A function or class → `from elsewhere import it`."""
    inside = {id(each) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body}
    for place in _definitions(tree):
        if id(place.node) not in inside:

            def out(unknowns: Unknowns, place: Place = place) -> None:
                name: str = place.node.name  # type: ignore[attr-defined]
                unknowns.roles[name] = "code"
                place.put(ast.ImportFrom(MODULE, [ast.alias(name)], 0))

            yield out


def decorated(tree: ast.Module) -> Iterator[Change]:
    """`@unknown` on a function, a method or a class; outermost and innermost."""
    for place in _definitions(tree):
        decorators: list[ast.expr] = place.node.decorator_list  # type: ignore[attr-defined]

        def outermost(unknowns: Unknowns, decorators: list[ast.expr] = decorators) -> None:
            decorators.insert(0, unknowns.name("decorator"))

        def innermost(unknowns: Unknowns, decorators: list[ast.expr] = decorators) -> None:
            decorators.append(ast.Call(unknowns.name("factory"), [], []))

        yield outermost
        yield innermost


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node


def derived(tree: ast.Module) -> Iterator[Change]:
    """`class C(B)` → `class C(Unknown)`, `class C(Unknown, B)`, `class C(B, Unknown)`."""
    for node in _classes(tree):

        def instead(unknowns: Unknowns, node: ast.ClassDef = node) -> None:
            node.bases = [unknowns.name("base")]

        def before(unknowns: Unknowns, node: ast.ClassDef = node) -> None:
            node.bases.insert(0, unknowns.name("base"))

        def behind(unknowns: Unknowns, node: ast.ClassDef = node) -> None:
            node.bases.append(unknowns.name("base"))

        yield from (instead, before, behind)


def metaclass(tree: ast.Module) -> Iterator[Change]:
    """`class C(B)` → `class C(B, metaclass=unknown)`."""
    for node in _classes(tree):

        def made_by(unknowns: Unknowns, node: ast.ClassDef = node) -> None:
            kept = [each for each in node.keywords if each.arg != "metaclass"]
            node.keywords = [*kept, ast.keyword("metaclass", unknowns.name("metaclass"))]

        yield made_by


_METHODS = (
    "def __setattr__(self, name, value):\n    super().__setattr__(name, {u}(value))",
    "def __setattr__(self, name, value):\n    object.__setattr__(self, name, {u}(value))",
    "def __getattr__(self, name):\n    return {u}(self, name)",
    "def __getattribute__(self, name):\n    return {u}(super().__getattribute__(name))",
    "def __call__(self, *args, **kwargs):\n    return {u}(super().__call__(*args, **kwargs))",
    "def __new__(cls, *args, **kwargs):\n    return {u}(super().__new__(cls))",
    "def __init_subclass__(cls, **kwargs):\n    {u}(cls)",
    "def parameters(self, recurse=True):\n    return {u}(super().parameters(recurse))",
    "def requires_grad_(self, flag=True):\n    return {u}(self)",
    "def train(self, mode=True):\n    {u}(self)\n    return super().train(mode)",
    "def _apply(self, function):\n    return {u}(super()._apply(function))",
)


def methods(tree: ast.Module) -> Iterator[Change]:
    """A class gets a `__setattr__`, `__getattr__`, `__call__`, `__new__` … that hands values through unknown code."""
    for node in _classes(tree):
        for text in _METHODS:

            def added(unknowns: Unknowns, node: ast.ClassDef = node, text: str = text) -> None:
                unknown = unknowns.name("call").id
                node.body += ast.parse(text.format(u=unknown)).body

            yield added


def _assigned(node: ast.ClassDef) -> dict[str, ast.Assign]:
    """Attributes that methods of a class assign to `self`."""
    found: dict[str, ast.Assign] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Attribute):
            target = each.targets[0]
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                found.setdefault(target.attr, each)
    return found


_PROPERTIES = (
    "@property\ndef {a}(self):\n    return self.__dict__['_{a}']\n\n"
    "@{a}.setter\ndef {a}(self, value):\n    self.__dict__['_{a}'] = {u}(value)",
    "@property\ndef {a}(self):\n    return {u}(self.__dict__['_{a}'])\n\n"
    "@{a}.setter\ndef {a}(self, value):\n    self.__dict__['_{a}'] = value",
    "{a} = {u}()",
)


def properties(tree: ast.Module) -> Iterator[Change]:
    """`self.h = v` goes through a property, or a descriptor from elsewhere."""
    for node in _classes(tree):
        for name in _assigned(node):
            for text in _PROPERTIES:

                def added(unknowns: Unknowns, node: ast.ClassDef = node, name: str = name, text: str = text) -> None:
                    unknown = unknowns.name("descriptor" if text.endswith("()") else "call").id
                    node.body += ast.parse(text.format(a=name, u=unknown)).body

                yield added


def overridden(tree: ast.Module) -> Iterator[Change]:
    """`C(…)` is made of a class derived in the file with a method that is unknown; or an instance gets one."""
    for place in _definitions(tree):
        node = place.node
        if not isinstance(node, ast.ClassDef):
            continue
        for method in [each.name for each in node.body if isinstance(each, ast.FunctionDef)]:

            def replaced(
                unknowns: Unknowns, place: Place = place, node: ast.ClassDef = node, method: str = method
            ) -> None:
                unknown = unknowns.name("method").id
                place.follow(*ast.parse(f"{node.name}.{method} = {unknown}({node.name}.{method})").body)

            yield replaced


def argument(tree: ast.Module) -> Iterator[Change]:
    """A constant default of a parameter → no default that is known."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            for index, default in enumerate(node.defaults):
                if isinstance(default, ast.Constant):

                    def unknown(unknowns: Unknowns, node: ast.arguments = node, index: int = index) -> None:
                        node.defaults[index] = unknowns.name("value")

                    yield unknown
