"""Statements, and the programs that they make. Of how they are made, see `expressions`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from torchlint.syntax import cst, kinds
from torchlint.syntax.ir.expressions import Argument, Expression, Node, Parameter
from torchlint.syntax.written import Written


@dataclass(slots=True, eq=False, repr=False)
class Statement(Node):
    """
    `origin` is the small statement (`cst.Assign`) or compound statement (`cst.If`); `line` is the
    `cst.SimpleStatementLine` that holds a small statement, or the compound statement itself. `at_line` is the first
    statement of the line, as `at`, and None of a compound statement.
    """

    at_line: Any

    @property
    def line(self) -> cst.CSTNode:
        at = self.at_line
        if at is None:
            return self.origin
        if issubclass(type(at), ast.AST):
            at = self.at_line = kinds.line_at(at)
        place: cst.CSTNode = at
        return place


@dataclass(slots=True, eq=False, repr=False, init=False)
class Assign(Statement):
    """`targets[0] = targets[1] = … = value`. An annotated assignment has one target, and its value may be None."""

    targets: list[Expression]
    value: Expression | None
    annotation: Expression | None

    def __init__(
        self,
        at: Any,
        at_line: Any,
        targets: list[Expression],
        value: Expression | None,
        annotation: Expression | None = None,
    ) -> None:
        self.at, self.at_line = at, at_line
        self.targets = targets
        self.value = value
        self.annotation = annotation


@dataclass(slots=True, eq=False, repr=False)
class AugmentedAssign(Statement):
    """`target op= value`; `op` without the `=`."""

    target: Expression
    op: str
    value: Expression


@dataclass(slots=True, eq=False, repr=False, init=False)
class ExpressionStatement(Statement):
    value: Expression

    def __init__(self, at: Any, at_line: Any, value: Expression) -> None:
        self.at, self.at_line = at, at_line
        self.value = value


@dataclass(slots=True, eq=False, repr=False, init=False)
class Return(Statement):
    value: Expression | None

    def __init__(self, at: Any, at_line: Any, value: Expression | None) -> None:
        self.at, self.at_line = at, at_line
        self.value = value


@dataclass(slots=True, eq=False, repr=False)
class Raise(Statement):
    value: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Assert(Statement):
    test: Expression
    message: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Delete(Statement):
    targets: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Pass(Statement):
    """Also `break` and `continue` have their own classes; this one does nothing (`pass`, `type X = …`)."""


@dataclass(slots=True, eq=False, repr=False)
class Break(Statement):
    pass


@dataclass(slots=True, eq=False, repr=False)
class Continue(Statement):
    pass


@dataclass(slots=True, eq=False, repr=False)
class Scope(Statement):
    """`global` / `nonlocal` (`kind`) names."""

    kind: str
    names: list[str]


@dataclass(slots=True, eq=False, repr=False, init=False)
class ImportName(Node):
    """
    One binding of an import. `import a.b` binds `a` to module "a"; `import a.b as c` binds `c` to "a.b";
    `from a import b as c` binds `c` to "a.b"; `from a import *` has bound "*" and qualified "a".
    Relative imports keep their dots: `from ..x import y` is "..x.y".
    """

    bound: str
    qualified: str
    imported: str
    """For `import a.b` (no `as`): "a.b", the module that was loaded."""

    def __init__(self, at: Any, bound: str, qualified: str, imported: str = "") -> None:
        self.at = at
        self.bound = bound
        self.qualified = qualified
        self.imported = imported


@dataclass(slots=True, eq=False, repr=False, init=False)
class Import(Statement):
    names: list[ImportName]

    def __init__(self, at: Any, at_line: Any, names: list[ImportName]) -> None:
        self.at, self.at_line = at, at_line
        self.names = names


@dataclass(slots=True, eq=False, repr=False, init=False)
class If(Statement):
    """`elif` is an `If` alone in `orelse` (its line is the `cst.If` of the elif)."""

    test: Expression
    body: list[Statement]
    orelse: list[Statement]

    def __init__(self, at: Any, at_line: Any, test: Expression, body: list[Statement], orelse: list[Statement]) -> None:
        self.at, self.at_line = at, at_line
        self.test = test
        self.body = body
        self.orelse = orelse


@dataclass(slots=True, eq=False, repr=False)
class For(Statement):
    target: Expression
    iterable: Expression
    body: list[Statement]
    orelse: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class While(Statement):
    test: Expression
    body: list[Statement]
    orelse: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class WithItem(Node):
    context: Expression
    target: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class With(Statement):
    items: list[WithItem]
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Handler(Node):
    type: Expression | None
    name: str
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Try(Statement):
    body: list[Statement]
    handlers: list[Handler]
    orelse: list[Statement]
    final: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Case(Node):
    """One `case`: the names its pattern binds, its guard, its body."""

    bound: list[str]
    guard: Expression | None
    body: list[Statement]
    wildcard: bool = False
    """The pattern is `_` or a bare name: it always matches."""


@dataclass(slots=True, eq=False, repr=False)
class Match(Statement):
    subject: Expression
    cases: list[Case]


@dataclass(slots=True, eq=False, repr=False, init=False)
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
    written: Written | None

    def __init__(
        self, body: list[Statement], is_generator: bool, assigned: frozenset[str], written: Written | None = None
    ) -> None:
        self.body = body
        self.is_generator = is_generator
        self.assigned = assigned
        self.written = written


@dataclass(slots=True, eq=False, repr=False, init=False)
class FunctionDef(Statement):
    """
    Of another file's function, which is seldom called, `inside` is None and `unread` makes it, until somebody asks for
    its `body` or what follows from that.
    """

    name: str
    parameters: list[Parameter]
    inside: Inside | None
    decorators: list[Expression]
    is_async: bool
    returns: Expression | None
    unread: Callable[[], Inside] | None

    def __init__(
        self,
        at: Any,
        at_line: Any,
        name: str,
        parameters: list[Parameter],
        inside: Inside | None,
        decorators: list[Expression],
        is_async: bool = False,
        returns: Expression | None = None,
        unread: Callable[[], Inside] | None = None,
    ) -> None:
        self.at, self.at_line = at, at_line
        self.name = name
        self.parameters = parameters
        self.inside = inside
        self.decorators = decorators
        self.is_async = is_async
        self.returns = returns
        self.unread = unread

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


@dataclass(slots=True, eq=False, repr=False)
class ClassDef(Statement):
    name: str
    bases: list[Argument]
    body: list[Statement]
    decorators: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Program(Node):
    """
    A whole file; `origin` is the `cst.Module`, `text` what is written in it ("" if that is not known), `held` the first
    and the last line of what each function and class of its statements holds, as far as it has lines of its own (empty
    if that is not known), `bindings` the statements that bind each name and `changed` the names whose containers
    somebody may change, once somebody has looked for them (see `imports`). `naming` are its imports, and its plain
    assignments of dotted names to names, wherever they stand, and `defined` all functions and classes, those in others
    first; of functions that were left unread there are none.
    """

    body: list[Statement]
    text: str = ""
    held: tuple[tuple[int, int] | None, ...] = ()
    naming: tuple[Import | Assign, ...] = ()
    defined: tuple[FunctionDef | ClassDef, ...] = ()
    bindings: dict[str, list[tuple[Statement, bool]]] | None = None
    changed: Container[str] | None = None
