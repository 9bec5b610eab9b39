"""
What a change of a program is made of: the unknown names it brings in, and the places where it may be made.

A change never makes a program say something else when what it hides behind `elsewhere` is what stood there before.
"""

# ruff: noqa: SIM905 (a list of words)

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .places import stands_for

MODULE = "elsewhere"
IMPORTED = frozenset({"torch", "nn", "F", "np", "optim", "copy", "math", "torchvision", "functools"})
"""Names of modules, which are no values."""


@dataclass(slots=True)
class Unknowns:
    """
    The names a change takes from `elsewhere`, and what each is used as.

    Attributes
    ----------
    roles
        A key of `bodies.BODIES`, by name; "code" for a definition that is moved away.
    """

    roles: dict[str, str] = field(default_factory=dict)

    def name(self, role: str) -> ast.Name:
        """A new unknown."""
        found = f"{role}{len(self.roles)}"
        self.roles[found] = role
        return ast.Name(found, ast.Load())

    def call(self, *arguments: ast.expr) -> ast.Call:
        """A call of a new unknown."""
        return ast.Call(self.name("call"), list(arguments), [])

    def brought_in(self, tree: ast.Module) -> None:
        """Import them all, behind `from __future__`."""
        names = [each for each, role in self.roles.items() if role != "code"]
        if not names:
            return
        head = [stmt for stmt in tree.body if isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"]
        if tree.body and not head and ast.get_docstring(tree) is not None:
            head = [tree.body[0]]  # type: ignore[list-item]
        place = len(head)
        tree.body.insert(place, ast.ImportFrom(MODULE, [ast.alias(name) for name in names], 0))


Change = Callable[[Unknowns], None]
"""Changes the tree it was found in, in place."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a tree where an expression stands."""

    parent: ast.AST
    name: str
    index: int | None
    node: ast.expr

    def put(self, new: ast.expr) -> None:
        """Replace the expression."""
        if self.index is None:
            setattr(self.parent, self.name, new)
        else:
            getattr(self.parent, self.name)[self.index] = new


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a tree where a statement stands."""

    block: list[ast.stmt]
    node: ast.stmt

    @property
    def index(self) -> int:
        """Its place in the block."""
        return next(number for number, each in enumerate(self.block) if each is self.node)

    def put(self, *new: ast.stmt) -> None:
        """Replace the statement; the new ones stand for it."""
        here = self.index
        self.block[here : here + 1] = [stands_for(each, self.node) if each is not self.node else each for each in new]

    def follow(self, *new: ast.stmt) -> None:
        """Add statements behind it, that stand for nothing."""
        here = self.index + 1
        self.block[here:here] = new


def places(tree: ast.AST) -> Iterator[Place]:
    """All statements with their blocks."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for each in block:
                    if isinstance(each, ast.stmt):
                        yield Place(block, each)


_UNTOUCHED = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_HEADS = {"decorator_list", "bases", "keywords", "returns", "annotation", "args", "type_params"}
"""Fields of definitions in which no value stands that a program computes with."""


def slots(tree: ast.AST) -> Iterator[Slot]:
    """All expressions that are read as values: no called function, no module, no target of an assignment."""
    for name, field_value in ast.iter_fields(tree):
        if isinstance(tree, ast.FunctionDef | ast.ClassDef | ast.arg) and name in _HEADS:
            continue
        if isinstance(tree, ast.AnnAssign) and name == "annotation":
            continue
        several = isinstance(field_value, list)
        for index, child in enumerate(field_value if several else [field_value]):
            if not isinstance(child, ast.AST) or isinstance(child, (*_UNTOUCHED, ast.JoinedStr)):
                continue
            if isinstance(child, ast.expr) and _is_value(tree, name, child):
                yield Slot(tree, name, index if several else None, child)
            yield from slots(child)


def _is_value(parent: ast.AST, name: str, child: ast.expr) -> bool:
    if isinstance(child, ast.Starred | ast.Slice) or isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(parent, ast.Call) and name == "func":
        return False
    if isinstance(parent, ast.withitem | ast.ExceptHandler | ast.comprehension | ast.Subscript | ast.For):
        return isinstance(parent, ast.Subscript) and name == "value"
    if isinstance(child, ast.Name):
        return child.id not in IMPORTED and child.id != "super"
    if isinstance(child, ast.Attribute):
        return not (isinstance(child.value, ast.Name) and child.value.id in IMPORTED)
    if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "super":
        return False
    return not (isinstance(parent, ast.Expr) and isinstance(child, ast.Constant))  # a docstring


def is_computed(node: ast.expr) -> bool:
    """Whether an expression may well be a tensor that is computed."""
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "A")
        made = any(keyword.arg == "requires_grad" for keyword in node.keywords)  # what is computed of a leaf is none
        return not (made or name[:1].isupper() or name in _NO_TENSORS or name.endswith("_"))
    return isinstance(node, ast.BinOp) and not isinstance(node.left, ast.Constant | ast.List)


_NO_TENSORS = frozenset(
    "backward step zero_grad parameters named_parameters state_dict item tolist numpy append extend range len print "
    "str zip enumerate no_grad isinstance format register_hook items keys values".split()
)
