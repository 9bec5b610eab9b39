"""
The small intermediate representation that the interpreter runs: Python without its spelling.

`lowering` makes it from the tree of Python's own parser, once per file. Every node keeps the node it came from, and
with it its place (`origin`). The IR knows no torch and has no behaviour.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, TypeAlias, cast

from torchlint.syntax import cst, kinds
from torchlint.syntax.node_fields import named as named
from torchlint.syntax.node_fields import parts as parts
from torchlint.syntax.written import Written as Written


@dataclass(slots=True, eq=False)
class Node:
    """
    Anything of the IR. Compared by identity. `origin` is its place; `at` holds the node of Python's tree until somebody
    asks for it.
    """

    at: Any

    @property
    def origin(self) -> cst.CSTNode:
        if issubclass(type(self.at), ast.AST):  # a place is asked by a method which class it passes for
            self.at = kinds.place_at(self.at, type(self).__name__)
        return cast("cst.CSTNode", self.at)


# ---- expressions -------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Name(Node):
    id: str


@dataclass(slots=True, eq=False)
class Constant(Node):
    """A literal: int, float, complex, str, bytes, bool, None or Ellipsis; concatenated strings are joined."""

    value: object | None


@dataclass(slots=True, eq=False)
class FormattedString(Node):
    """An f-string (or t-string): the expressions in it, in order."""

    parts: list[Expression]


@dataclass(slots=True, eq=False)
class Attribute(Node):
    value: Expression
    attr: str


@dataclass(slots=True, eq=False)
class Slice(Node):
    lower: Expression | None
    upper: Expression | None
    step: Expression | None


@dataclass(slots=True, eq=False)
class Subscript(Node):
    """`value[index]`; several indices are a `Sequence` of kind "tuple" (its origin is the `cst.Subscript`)."""

    value: Expression
    index: Expression


@dataclass(slots=True, eq=False)
class Argument(Node):
    """
    One argument of a call: `keyword` for `k=v`, `star` "*" or "**" for unpacking, both empty for a positional one.
    `origin` is the `cst.Arg`.
    """

    value: Expression
    keyword: str = ""
    star: str = ""


@dataclass(slots=True, eq=False)
class Call(Node):
    function: Expression
    arguments: list[Argument]


@dataclass(slots=True, eq=False)
class Binary(Node):
    """`left op right`; `op` as written: `+ - * / // % ** @ << >> & | ^`."""

    op: str
    left: Expression
    right: Expression


@dataclass(slots=True, eq=False)
class Unary(Node):
    """`op operand`; `op` is `-`, `+`, `~` or `not`."""

    op: str
    operand: Expression


@dataclass(slots=True, eq=False)
class Boolean(Node):
    """`and` / `or` of two or more operands; nested ones of the same operator may stay nested."""

    op: str
    operands: list[Expression]


@dataclass(slots=True, eq=False)
class Compare(Node):
    """`left ops[0] rights[0] ops[1] rights[1] …`; ops as written, with single blanks: `is not`, `not in`."""

    left: Expression
    ops: list[str]
    rights: list[Expression]


@dataclass(slots=True, eq=False)
class Conditional(Node):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


@dataclass(slots=True, eq=False)
class Sequence(Node):
    """A tuple, list or set display, or a tuple target. `kind` is "tuple", "list" or "set"."""

    kind: str
    elements: list[Expression]


@dataclass(slots=True, eq=False)
class Starred(Node):
    """`*value` in a display, a target or an index."""

    value: Expression


@dataclass(slots=True, eq=False)
class Dict(Node):
    """A dict display; a key of None is `**value`."""

    keys: list[Expression | None]
    values: list[Expression]


@dataclass(slots=True, eq=False)
class Generator(Node):
    """`for target in iterable if tests`; `origin` is the `cst.CompFor`."""

    target: Expression
    iterable: Expression
    tests: list[Expression]


@dataclass(slots=True, eq=False)
class Comprehension(Node):
    """`kind`: "list", "set", "dict" or "generator". For "dict", `element` is the value and `key` the key."""

    kind: str
    element: Expression
    generators: list[Generator]
    key: Expression | None = None


@dataclass(slots=True, eq=False)
class Parameter(Node):
    """`kind`: "positional-only", "positional", "keyword-only", "*" or "**"."""

    name: str
    kind: str = "positional"
    default: Expression | None = None
    annotation: Expression | None = None


@dataclass(slots=True, eq=False)
class Lambda(Node):
    parameters: list[Parameter]
    body: Expression


@dataclass(slots=True, eq=False)
class Assigned(Node):
    """`target := value`."""

    target: Name
    value: Expression


@dataclass(slots=True, eq=False)
class Yield(Node):
    value: Expression | None
    is_from: bool = False


@dataclass(slots=True, eq=False)
class Await(Node):
    value: Expression


@dataclass(slots=True, eq=False)
class TooDeep(Node):
    """What nobody follows: it stands too deep inside of an expression."""


Expression: TypeAlias = (
    "Name | Constant | FormattedString | Attribute | Slice | Subscript | Call | Binary | Unary | Boolean | Compare | "
    "Conditional | Sequence | Starred | Dict | Comprehension | Lambda | Assigned | Yield | Await | TooDeep"
)


# ---- statements --------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Statement(Node):
    """
    `origin` is the small statement (`cst.Assign`) or compound statement (`cst.If`); `line` is the
    `cst.SimpleStatementLine` that holds a small statement, or the compound statement itself. `at_line` is the first
    statement of the line, as `at`, and None of a compound statement.
    """

    at_line: Any

    @property
    def line(self) -> cst.CSTNode:
        if self.at_line is None:
            return self.origin
        if issubclass(type(self.at_line), ast.AST):
            self.at_line = kinds.line_at(self.at_line)
        return cast("cst.CSTNode", self.at_line)


@dataclass(slots=True, eq=False)
class Assign(Statement):
    """`targets[0] = targets[1] = … = value`. An annotated assignment has one target, and its value may be None."""

    targets: list[Expression]
    value: Expression | None
    annotation: Expression | None = None


@dataclass(slots=True, eq=False)
class AugmentedAssign(Statement):
    """`target op= value`; `op` without the `=`."""

    target: Expression
    op: str
    value: Expression


@dataclass(slots=True, eq=False)
class ExpressionStatement(Statement):
    value: Expression


@dataclass(slots=True, eq=False)
class Return(Statement):
    value: Expression | None


@dataclass(slots=True, eq=False)
class Raise(Statement):
    value: Expression | None


@dataclass(slots=True, eq=False)
class Assert(Statement):
    test: Expression
    message: Expression | None


@dataclass(slots=True, eq=False)
class Delete(Statement):
    targets: list[Expression]


@dataclass(slots=True, eq=False)
class Pass(Statement):
    """Also `break` and `continue` have their own classes; this one does nothing (`pass`, `type X = …`)."""


@dataclass(slots=True, eq=False)
class Break(Statement):
    pass


@dataclass(slots=True, eq=False)
class Continue(Statement):
    pass


@dataclass(slots=True, eq=False)
class Scope(Statement):
    """`global` / `nonlocal` (`kind`) names."""

    kind: str
    names: list[str]


@dataclass(slots=True, eq=False)
class ImportName(Node):
    """
    One binding of an import. `import a.b` binds `a` to module "a"; `import a.b as c` binds `c` to "a.b";
    `from a import b as c` binds `c` to "a.b"; `from a import *` has bound "*" and qualified "a".
    Relative imports keep their dots: `from ..x import y` is "..x.y".
    """

    bound: str
    qualified: str
    imported: str = ""
    """For `import a.b` (no `as`): "a.b", the module that was loaded."""


@dataclass(slots=True, eq=False)
class Import(Statement):
    names: list[ImportName]


@dataclass(slots=True, eq=False)
class If(Statement):
    """`elif` is an `If` alone in `orelse` (its line is the `cst.If` of the elif)."""

    test: Expression
    body: list[Statement]
    orelse: list[Statement]


@dataclass(slots=True, eq=False)
class For(Statement):
    target: Expression
    iterable: Expression
    body: list[Statement]
    orelse: list[Statement]


@dataclass(slots=True, eq=False)
class While(Statement):
    test: Expression
    body: list[Statement]
    orelse: list[Statement]


@dataclass(slots=True, eq=False)
class WithItem(Node):
    context: Expression
    target: Expression | None


@dataclass(slots=True, eq=False)
class With(Statement):
    items: list[WithItem]
    body: list[Statement]


@dataclass(slots=True, eq=False)
class Handler(Node):
    type: Expression | None
    name: str
    body: list[Statement]


@dataclass(slots=True, eq=False)
class Try(Statement):
    body: list[Statement]
    handlers: list[Handler]
    orelse: list[Statement]
    final: list[Statement]


@dataclass(slots=True, eq=False)
class Case(Node):
    """One `case`: the names its pattern binds, its guard, its body."""

    bound: list[str]
    guard: Expression | None
    body: list[Statement]
    wildcard: bool = False
    """The pattern is `_` or a bare name: it always matches."""


@dataclass(slots=True, eq=False)
class Match(Statement):
    subject: Expression
    cases: list[Case]


@dataclass(slots=True, eq=False)
class Inside:
    """
    What stands in a function.

    Attributes
    ----------
    body
        Its statements.
    is_generator
        Whether these (not those of a nested function) have a `yield`.
    assigned
        Names bound in it (assignments, loops, imports, `except`, walrus, defs), less `global`/`nonlocal`.
    written
        What is written in it, once somebody has read it.
    """

    body: list[Statement]
    is_generator: bool
    assigned: frozenset[str]
    written: Written | None = None


@dataclass(slots=True, eq=False)
class FunctionDef(Statement):
    """
    Of another file's function, which is seldom called, `inside` is None and `unread` makes it, until somebody asks for
    its `body` or what follows from that.
    """

    name: str
    parameters: list[Parameter]
    inside: Inside | None
    decorators: list[Expression]
    is_async: bool = False
    returns: Expression | None = None
    unread: Callable[[], Inside] | None = None

    def read(self) -> Inside:
        if self.inside is None:
            assert self.unread is not None
            self.inside, self.unread = self.unread(), None
        return self.inside

    @property
    def body(self) -> list[Statement]:
        return self.read().body

    @property
    def is_generator(self) -> bool:
        return self.read().is_generator

    @property
    def assigned(self) -> frozenset[str]:
        return self.read().assigned

    @property
    def written(self) -> Written | None:
        return self.read().written


@dataclass(slots=True, eq=False)
class ClassDef(Statement):
    name: str
    bases: list[Argument]
    body: list[Statement]
    decorators: list[Expression]


@dataclass(slots=True, eq=False)
class Program(Node):
    """
    A whole file; `origin` is the `cst.Module`, `text` what is written in it ("" if that is not known), `held` the first
    and the last line of what each function and class of its statements holds, as far as it has lines of its own (empty
    if that is not known), `bindings` the statements that bind each name and `changed` the names whose containers
    somebody may change, once somebody has looked for them (see `imports`). `naming` are its imports, and its plain
    assignments of dotted names to names, wherever they stand; of functions that were left unread there are none.
    """

    body: list[Statement]
    text: str = ""
    held: tuple[tuple[int, int] | None, ...] = ()
    naming: tuple[Import | Assign, ...] = ()
    bindings: dict[str, list[tuple[Statement, bool]]] | None = None
    changed: frozenset[str] | None = None


def walk(node: Node | list[Statement]) -> Iterator[Node]:
    """A node, or the statements of a block, and everything below: parents first, fields in their order."""
    pending: list[Any] = [node]
    while pending:  # of very many: what a look takes is what its calls take
        each = pending.pop()
        kind = type(each)
        if kind in _reading:
            yield each
            if (read := _reading[kind]) is not None:
                held = read(each)
                pending += held if type(held) is tuple else (held,)
        elif kind is list:
            pending += each[::-1]
        elif each is not None and isinstance(each, Node):
            _reading[kind] = attrgetter(*names) if (names := parts(kind)) else None
            pending.append(each)


def blocks(statement: Statement) -> list[list[Statement]]:
    """The blocks of a compound statement, less those of functions and classes."""
    if type(statement) in (Assign, ExpressionStatement, Return):
        return []  # most of what there is
    if isinstance(statement, (If, For, While)):
        return [statement.body, statement.orelse]
    if isinstance(statement, With):
        return [statement.body]
    if isinstance(statement, Try):
        return [statement.body, *(h.body for h in statement.handlers), statement.orelse, statement.final]
    if isinstance(statement, Match):
        return [case.body for case in statement.cases]
    return []


def everything(body: list[Statement]) -> Iterator[Statement]:
    """All statements of a block, those of functions and classes among them, in the order in which they are written."""
    pending = body[::-1]
    while pending:  # a chain of `elif` is as deep as it is long
        statement = pending.pop()
        yield statement
        inner = [statement.body] if type(statement) is FunctionDef or type(statement) is ClassDef else blocks(statement)
        for block in inner[::-1]:
            pending += block[::-1]


_reading: Final[dict[type[Node], Callable[[Any], Any] | None]] = {}
"""Of each class of nodes what reads all that may be nodes in one; None where that is nothing."""
