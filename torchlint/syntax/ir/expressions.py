"""
Nodes, and the expressions among them.

What is made at every turn says itself how: what mypyc compiles then makes it without Python.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, TypeAlias

from torchlint.syntax import cst, kinds
from torchlint.syntax.node_fields import named


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """
    Anything of the IR. Compared by identity. `origin` is its place; `at` holds the node of Python's tree until somebody
    asks for it.
    """

    at: Any

    def __repr__(self) -> str:
        held = ", ".join(f"{name}={getattr(self, name)!r}" for name in named(type(self)))
        return f"{type(self).__name__}({held})"

    @property
    def origin(self) -> cst.CSTNode:
        at = self.at
        if issubclass(type(at), ast.AST):  # a place is asked by a method which class it passes for
            at = self.at = kinds.place_at(at, type(self).__name__)
        place: cst.CSTNode = at
        return place


@dataclass(slots=True, eq=False, repr=False, init=False)
class Name(Node):
    id: str

    def __init__(self, at: Any, id: str) -> None:
        self.at = at
        self.id = id


@dataclass(slots=True, eq=False, repr=False, init=False)
class Constant(Node):
    """A literal: int, float, complex, str, bytes, bool, None or Ellipsis; concatenated strings are joined."""

    value: object | None

    def __init__(self, at: Any, value: object | None) -> None:
        self.at = at
        self.value = value


@dataclass(slots=True, eq=False, repr=False)
class FormattedString(Node):
    """An f-string (or t-string): the expressions in it, in order."""

    parts: list[Expression]


@dataclass(slots=True, eq=False, repr=False, init=False)
class Attribute(Node):
    value: Expression
    attr: str

    def __init__(self, at: Any, value: Expression, attr: str) -> None:
        self.at = at
        self.value = value
        self.attr = attr


@dataclass(slots=True, eq=False, repr=False)
class Slice(Node):
    lower: Expression | None
    upper: Expression | None
    step: Expression | None


@dataclass(slots=True, eq=False, repr=False, init=False)
class Subscript(Node):
    """`value[index]`; several indices are a `Sequence` of kind "tuple" (its origin is the `cst.Subscript`)."""

    value: Expression
    index: Expression

    def __init__(self, at: Any, value: Expression, index: Expression) -> None:
        self.at = at
        self.value = value
        self.index = index


@dataclass(slots=True, eq=False, repr=False, init=False)
class Argument(Node):
    """
    One argument of a call: `keyword` for `k=v`, `star` "*" or "**" for unpacking, both empty for a positional one.
    `origin` is the `cst.Arg`.
    """

    value: Expression
    keyword: str
    star: str

    def __init__(self, at: Any, value: Expression, keyword: str = "", star: str = "") -> None:
        self.at = at
        self.value = value
        self.keyword = keyword
        self.star = star


@dataclass(slots=True, eq=False, repr=False, init=False)
class Call(Node):
    function: Expression
    arguments: list[Argument]

    def __init__(self, at: Any, function: Expression, arguments: list[Argument]) -> None:
        self.at = at
        self.function = function
        self.arguments = arguments


@dataclass(slots=True, eq=False, repr=False, init=False)
class Binary(Node):
    """`left op right`; `op` as written: `+ - * / // % ** @ << >> & | ^`."""

    op: str
    left: Expression
    right: Expression

    def __init__(self, at: Any, op: str, left: Expression, right: Expression) -> None:
        self.at = at
        self.op = op
        self.left = left
        self.right = right


@dataclass(slots=True, eq=False, repr=False, init=False)
class Unary(Node):
    """`op operand`; `op` is `-`, `+`, `~` or `not`."""

    op: str
    operand: Expression

    def __init__(self, at: Any, op: str, operand: Expression) -> None:
        self.at = at
        self.op = op
        self.operand = operand


@dataclass(slots=True, eq=False, repr=False)
class Boolean(Node):
    """`and` / `or` of two or more operands; nested ones of the same operator may stay nested."""

    op: str
    operands: list[Expression]


@dataclass(slots=True, eq=False, repr=False, init=False)
class Compare(Node):
    """`left ops[0] rights[0] ops[1] rights[1] …`; ops as written, with single blanks: `is not`, `not in`."""

    left: Expression
    ops: list[str]
    rights: list[Expression]

    def __init__(self, at: Any, left: Expression, ops: list[str], rights: list[Expression]) -> None:
        self.at = at
        self.left = left
        self.ops = ops
        self.rights = rights


@dataclass(slots=True, eq=False, repr=False)
class Conditional(Node):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


@dataclass(slots=True, eq=False, repr=False, init=False)
class Sequence(Node):
    """A tuple, list or set display, or a tuple target. `kind` is "tuple", "list" or "set"."""

    kind: str
    elements: list[Expression]

    def __init__(self, at: Any, kind: str, elements: list[Expression]) -> None:
        self.at = at
        self.kind = kind
        self.elements = elements


@dataclass(slots=True, eq=False, repr=False)
class Starred(Node):
    """`*value` in a display, a target or an index."""

    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Dict(Node):
    """A dict display; a key of None is `**value`."""

    keys: list[Expression | None]
    values: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Generator(Node):
    """`for target in iterable if tests`; `origin` is the `cst.CompFor`."""

    target: Expression
    iterable: Expression
    tests: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Comprehension(Node):
    """`kind`: "list", "set", "dict" or "generator". For "dict", `element` is the value and `key` the key."""

    kind: str
    element: Expression
    generators: list[Generator]
    key: Expression | None = None


@dataclass(slots=True, eq=False, repr=False, init=False)
class Parameter(Node):
    """`kind`: "positional-only", "positional", "keyword-only", "*" or "**"."""

    name: str
    kind: str
    default: Expression | None
    annotation: Expression | None

    def __init__(
        self,
        at: Any,
        name: str,
        kind: str = "positional",
        default: Expression | None = None,
        annotation: Expression | None = None,
    ) -> None:
        self.at = at
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = annotation


@dataclass(slots=True, eq=False, repr=False)
class Lambda(Node):
    parameters: list[Parameter]
    body: Expression


@dataclass(slots=True, eq=False, repr=False)
class Assigned(Node):
    """`target := value`."""

    target: Name
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Yield(Node):
    value: Expression | None
    is_from: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Await(Node):
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class TooDeep(Node):
    """What nobody follows: it stands too deep inside of an expression."""


Expression: TypeAlias = (
    "Name | Constant | FormattedString | Attribute | Slice | Subscript | Call | Binary | Unary | Boolean | Compare | "
    "Conditional | Sequence | Starred | Dict | Comprehension | Lambda | Assigned | Yield | Await | TooDeep"
)
