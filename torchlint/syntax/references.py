"""
Every place of a file that names something of a package: imports, aliases, attributes, decorators, annotations.

Walks Python's own tree with the scopes of the language and runs nothing: a name stands for what an import (or one plain
assignment of a dotted name) bound it to, and for nothing where it is bound in any other way too. Says of each place
whether its author asked first: a version, `hasattr`, a `try`. What is never run names nothing. Knows of no package what
is in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import zip_longest

from torchlint.record import record
from torchlint.syntax import tables
from torchlint.syntax.availability import AvailabilityTests, chosen_functions, demands, handles_absence
from torchlint.syntax.bindings import Bindings, arguments_of
from torchlint.syntax.children import children, walk
from torchlint.syntax.entries import last_name
from torchlint.syntax.mentions import statements
from torchlint.syntax.unreachable import arms, ends, leaves, truth
from torchlint.syntax.used import is_on


@record(frozen=True)
class Reference:
    """
    One place that names something.

    Attributes
    ----------
    name
        What it stands for, in full: `torch.nn.functional.relu`.
    spelled
        As it is written: `F.relu`; of an import, the name alone.
    node
        An attribute, a name, or the part of an import.
    call
        The call whose function it is.
    decorates
        It is a decorator, without a call.
    imports
        It is imported here by `from … import`, under this name; "" for any other use.
    again
        A plain name, of what is bound to it where it was written in full: an import, an assignment.
    asked
        Its author asked whether it is there: it stands under a test of a version, in a `try`, under `hasattr`.
    listed
        It is spoken of, and not used: a table has it as a key, or under its own name; it is a member of a set, or
        compared with something, alone or as one of several; it stands in a table whose entries are registered
        (`tables`), or gets a docstring.
    handed
        It is given to what calls it: `functools.partial`, `map`.
    constructs
        `super().__init__(...)` in a class that has nothing but this for a base: `call` gives it arguments.
    annotates
        It stands in an annotation.
    compared
        `isinstance` or `issubclass` is asked about it, or about a tuple that it is in and that serves for nothing else.
    beside
        Of what is `compared`: the names in full that stand in the same statement.
    inside
        It stands in a function, and is not reached when the file is loaded.
    statement
        What it stands in: the innermost statement, or the first one of its line.
    """

    name: str
    spelled: str
    node: ast.expr | ast.alias
    statement: ast.stmt
    call: ast.Call | None = None
    decorates: bool = False
    imports: str = ""
    again: bool = False
    asked: bool = False
    listed: bool = False
    handed: bool = False
    constructs: bool = False
    annotates: bool = False
    compared: bool = False
    inside: bool = False
    beside: frozenset[str] = frozenset()


_CALLS = frozenset({"partial", "map"})
"""Those who call what they are given."""


def references(
    tree: ast.Module,
    wanted: Container[str],
    packages: Collection[str],
    lines: Sequence[int] | None = None,
    elsewhere: Callable[[str], bool] | None = None,
    text: str | None = None,
) -> list[Reference]:
    """
    The places of a file that name something wanted, in the order of the text.

    Parameters
    ----------
    tree
        The file.
    wanted
        Names in full.
    packages
        The packages that these begin with.
    lines
        Where they may be, in order (`mentions.lines_of`): statements without any of these lines are not looked at.
    elsewhere
        Whether a name that the file imports says in another file which version there is.
    text
        The file as it is written, which tells cheaper where there is nothing; None if that is not at hand.
    """
    uses = _Walk(tree, wanted, packages, lines=lines, elsewhere=elsewhere).uses
    found = [each for each in uses.found if each.name not in uses.provided]
    doubtful = [each.node.lineno for each in found if each.inside and not each.asked]
    if doubtful:
        chosen = chosen_functions(uses.tests, tree, doubtful, text)
        found = [
            replace(each, asked=True)
            if each.inside and any(one.lineno <= each.node.lineno <= (one.end_lineno or 0) for one in chosen)
            else each
            for each in found
        ]
    return sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset))


def asked_methods(tree: ast.Module, methods: Container[str]) -> set[tuple[int, int]]:
    """
    Where a file calls methods of these names, of whatever, and has asked what there is: line and column of the end of
    each `receiver.method`.
    """
    return _Walk(tree, (), (), methods).uses.asked_methods


class _Asked:
    """Whether the author has asked: looked into when a reference wants to know, and most tests guard none."""

    __slots__ = ("_answer", "_before", "_question")

    def __init__(self, before: bool | _Asked, question: Callable[[], bool]) -> None:
        self._before = before
        self._question = question
        self._answer: bool | None = None

    def __bool__(self) -> bool:
        if self._answer is None:
            self._answer = bool(self._before) or self._question()
        return self._answer


class _Uses:
    """
    Which wanted names the expressions of a file use.

    Parameters
    ----------
    bindings
        What names stand for, in the scope where the walk is.
    tests
        What the file asks about.
    wanted
        Names in full.
    methods
        Methods, of whatever, whose guarded calls are noted.
    """

    def __init__(
        self, bindings: Bindings, tests: AvailabilityTests, wanted: Container[str], methods: Container[str]
    ) -> None:
        self.bindings = bindings
        self.tests = tests
        self.wanted = wanted
        self.methods = methods
        self.found: list[Reference] = []
        self.provided: set[str] = set()
        """What the file itself puts into the package."""
        self.asked_methods = set[tuple[int, int]]()
        self.asked: bool | _Asked = False
        self.listed = False
        self.table: Callable[[], bool] | None = None  # whether the statement gives a name to a table of what there is
        self.handed = False
        self.annotates = False
        self.compared = False
        self.inside = False
        self.statement: ast.stmt = ast.Pass()  # the one around; of those on one line the first
        self.base = ""  # what the class around derives from, if that is one thing

    def expression(self, node: ast.AST, decorates: bool = False) -> None:
        if isinstance(node, (ast.Attribute, ast.Name)):
            self.chain(node, None, decorates)
        elif isinstance(node, ast.Call):
            self.called(node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                named = isinstance(key, ast.Constant) and isinstance(value, ast.Attribute) and key.value == value.attr
                if key is not None:
                    self.listed = True
                    self.expression(key)
                self.listed = named or (tables.is_entry(value) and self.is_of_a_table())
                self.expression(value)
                self.listed = False
        elif isinstance(node, (ast.List, ast.Tuple)) and self.table is not None and not self.compared:
            for entry in node.elts:
                self.listed = tables.is_entry(entry) and self.is_of_a_table()
                self.expression(entry)
                self.listed = False
        elif isinstance(node, (ast.Set, ast.Compare)):
            for part in children(node):
                self.alternatives(part, isinstance(node, ast.Compare) and tables.is_membership(node))
        elif isinstance(node, ast.IfExp):
            self.expression(node.test)
            before = self.asked
            self.asked = _Asked(before, partial(self.tests.asks, node.test))
            always = truth(node.test)
            if always is not False:
                self.expression(node.body)
            if always is not True:
                self.expression(node.orelse)
            self.asked = before
        elif isinstance(node, ast.BoolOp):
            before = self.asked
            for each in node.values:
                self.expression(each)
                self.asked = _Asked(self.asked, partial(self.tests.asks, each))
            self.asked = before
        elif isinstance(node, ast.Lambda):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.expression(default)
            with self.bindings.inner() as scope:
                for argument in arguments_of(node.args):
                    scope.bind(argument.arg, None)
                self.expression(node.body)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            with self.bindings.inner():
                self.bindings.binds([each.target for each in node.generators])
                for part in children(node):
                    self.expression(part)
        elif not isinstance(node, (ast.Constant, ast.expr_context, ast.operator)):
            for part in children(node):
                self.expression(part)

    def alternatives(self, node: ast.AST, among: bool) -> None:
        """What something is compared with or may be: one name, or, where it may be one of several, those entries."""
        parts = node.elts if among and isinstance(node, (ast.List, ast.Tuple)) else [node]
        for part in parts:
            self.listed = tables.is_entry(part)
            self.expression(part)
            self.listed = False

    def is_of_a_table(self) -> bool:
        return self.table is not None and self.table()

    def called(self, node: ast.Call) -> None:
        if isinstance(node.func, (ast.Attribute, ast.Name)):
            self.chain(node.func, node, False)
        else:
            self.expression(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.methods and self.asked:
            self.asked_methods.add((node.func.end_lineno or 0, node.func.end_col_offset or 0))
        if self.base and self.base in self.wanted and _is_constructor_of_base(node.func):
            self.found.append(_constructing(self.base, node, self.statement, bool(self.asked)))
        before, listed, table = self.asked, self.listed, self.table
        self.asked, self.table = _Asked(before, partial(self.tests.expects, node)), None
        of_kinds, spoken = tables.asks_for_kinds(node), tables.speaks_of_it(last_name(node.func))
        for at, part in enumerate((*node.args, *(each.value for each in node.keywords))):
            self.handed = isinstance(part, (ast.Attribute, ast.Name)) and last_name(node.func) in _CALLS
            self.compared = of_kinds and at == 1
            self.listed = spoken and at == 0 and tables.is_entry(part)
            if at == 0 and tables.makes_members(node):
                self.alternatives(part, among=True)
            else:
                self.expression(part)
            self.handed = self.compared = False
        self.asked, self.listed, self.table = before, listed, table

    def chain(self, node: ast.Attribute | ast.Name, call: ast.Call | None, decorates: bool) -> None:
        name = self.bindings.dotted(node)
        if not name:
            below: ast.AST = node
            while isinstance(below, ast.Attribute):
                below = below.value
            if not isinstance(below, ast.Name):
                self.expression(below)
            return
        part: ast.expr = node
        outermost = True
        while True:
            if name in self.wanted:
                if part is node and not isinstance(node.ctx, ast.Load):
                    if isinstance(node, ast.Attribute):  # a plain name is only a name for it
                        self.provided.add(name)
                elif (again := self.is_again(part, name)) <= (call is not None or decorates):
                    own, spelled = call if outermost else None, ast.unparse(part)
                    more = (
                        decorates and outermost,
                        "",
                        again,
                        bool(self.asked),
                        self.listed and own is None,
                        self.handed,
                    )
                    found = Reference(name, spelled, part, self.statement, own, *more, annotates=self.annotates)
                    beside = self.beside() if self.compared else frozenset[str]()
                    self.found.append(replace(found, compared=self.compared, inside=self.inside, beside=beside))
                return
            if not isinstance(part, ast.Attribute):
                return
            part, name, outermost = part.value, name.rpartition(".")[0], False

    def beside(self) -> frozenset[str]:
        """What the expressions of the statement name."""
        parts = [part for each in children(self.statement) if isinstance(each, ast.expr) for part in walk(each)]
        return frozenset(name for part in parts if tables.is_entry(part) and (name := self.bindings.dotted(part)))

    def is_again(self, part: ast.expr, name: str) -> bool:
        """Whether it is a plain name, bound where the name itself was written in full, and is reported there."""
        return isinstance(part, ast.Name) and self.bindings.scope.find(part.id) == name

    def note(self, name: str, spelled: str, node: ast.expr | ast.alias, imports: str = "") -> None:
        self.found.append(
            Reference(name, spelled, node, self.statement, imports=imports, asked=bool(self.asked), inside=self.inside)
        )


class _Walk:
    """The statements of a file, one scope after the other; of those without any of certain lines none."""

    def __init__(
        self,
        tree: ast.Module,
        wanted: Container[str],
        packages: Collection[str],
        methods: Container[str] = (),
        lines: Sequence[int] | None = None,
        elsewhere: Callable[[str], bool] | None = None,
    ) -> None:
        self.tree = tree
        self.kinds: frozenset[str] | None = None
        self.packages = packages
        self.wanted = wanted
        self.lines = lines
        self.bindings = Bindings(wanted, packages)
        self.tests = AvailabilityTests(tree, elsewhere)
        self.uses = _Uses(self.bindings, self.tests, wanted, methods)
        self.deferred = any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(alias.name == "annotations" for alias in node.names)
            for node in tree.body
        )
        """Annotations are never evaluated (https://peps.python.org/pep-0563/)."""
        for node in statements(tree):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:  # whoever binds it there, binds it for all
                    self.bindings.root.bind(name, None)
        self.bindings.binds(tree.body)
        self.block(tree.body)

    def holds(self, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether any of the lines is from one statement to another."""
        return self.lines is None or is_on(first, last, self.lines)

    def block(self, body: list[ast.stmt]) -> None:
        """Statements one after the other; what follows a test that leaves has been asked about."""
        if not body or not self.holds(body[0], body[-1]):
            return
        before, around = self.uses.asked, self.uses.statement
        first, told, base = body[0], list[ast.stmt](), before
        previous = first
        for node, after in zip_longest(body, body[1:]):
            first, previous = first if node.lineno == previous.end_lineno else node, node
            if self.holds(node, node):
                asked, self.uses.statement = self.uses.asked, first
                if isinstance(after, ast.If):
                    self.uses.asked = _Asked(asked, partial(self.tests.replaced, node, after))
                self.statement(node)
                self.uses.asked = asked
            if isinstance(node, ast.If) and leaves(node.body):
                self.uses.asked = _Asked(self.uses.asked, partial(self.tests.asks, node.test))
                told, base = [], self.uses.asked
            elif demands(node):
                told.append(node)
                self.uses.asked = _Asked(base, partial(self.tests.refused, told, len(told)))
            if ends(node):
                break
        self.uses.asked, self.uses.statement = before, around

    def statement(self, node: ast.stmt) -> None:
        before = self.uses.asked
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(node)
        elif isinstance(node, ast.ClassDef):
            self.decorators(node)
            for part in (*node.bases, *(each.value for each in node.keywords)):
                self.uses.expression(part)
            around, lines = self.uses.base, self.lines
            self.uses.asked = _Asked(before, partial(self.is_expected, node.decorator_list))
            self.uses.base = self.bindings.dotted(node.bases[0]) if len(node.bases) == 1 else ""
            if self.uses.base and self.uses.base in self.wanted:
                self.lines = None  # its constructor is called without its name
            with self.bindings.inner(is_class=True):
                self.inner(node.body)
            self.uses.base, self.lines = around, lines
        elif isinstance(node, ast.If):
            self.uses.expression(node.test)
            self.uses.asked = _Asked(before, partial(self.tests.asks, node.test))
            for body in arms(node):
                self.block(body)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.uses.expression(node.target)
            self.uses.expression(node.iter)
            self.block(node.body)
            self.block(node.orelse)
        elif isinstance(node, ast.While):
            self.uses.expression(node.test)
            if truth(node.test) is not False:
                self.block(node.body)
            self.block(node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.uses.asked = _Asked(before, partial(self.is_expected, [each.context_expr for each in node.items]))
            for item in node.items:
                self.uses.expression(item.context_expr)
                if item.optional_vars is not None:
                    self.uses.expression(item.optional_vars)
            self.block(node.body)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self.tried(node)  # type: ignore[arg-type]
        elif isinstance(node, ast.Match):
            self.uses.expression(node.subject)
            for case in node.cases:
                self.uses.expression(case.pattern)
                if case.guard is not None:
                    self.uses.expression(case.guard)
                self.block(case.body)
        elif isinstance(node, ast.ImportFrom):
            self.imported(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self.note_prefixes(alias.name, alias)
        elif not isinstance(node, (ast.Global, ast.Nonlocal)):
            if isinstance(node, ast.Assert):
                self.uses.asked = _Asked(before, partial(self.tests.asks, node.test))
            self.uses.compared = isinstance(node, ast.Assign) and self.lists_kinds(node)
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                self.uses.table = cache(partial(tables.only_speaks, node, self.tree))
            for child in children(node):
                if isinstance(node, ast.AnnAssign) and child is node.annotation:
                    self.annotation(child, local=self.bindings.is_local)
                else:
                    self.uses.expression(child)
            self.uses.compared, self.uses.table = False, None
        self.uses.asked = before

    def lists_kinds(self, node: ast.Assign) -> bool:
        """Whether several things get a name here, of which the file asks no more than whether something is in it."""
        name = node.targets[0]
        if not isinstance(name, ast.Name) or not isinstance(node.value, (ast.Tuple, ast.List, ast.Set)):
            return False
        if self.kinds is None:
            self.kinds = tables.kinds(self.tree)
        return name.id in self.kinds

    def annotation(self, node: ast.AST | None, *, local: bool = False) -> None:
        """What is never evaluated uses nothing: where a file defers them, and of a function's own variables."""
        before = self.uses.asked
        self.uses.asked, self.uses.annotates = local or self.deferred or before, True
        if node is not None:
            self.uses.expression(node)
        self.uses.asked, self.uses.annotates = before, False

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = self.uses.asked
        self.uses.asked = _Asked(before, partial(self.is_expected, node.decorator_list))
        self.decorators(node)
        arguments = node.args
        for part in (*arguments.defaults, *arguments.kw_defaults):
            if part is not None:
                self.uses.expression(part)
        self.annotation(node.returns)
        with self.bindings.inner() as scope:
            for each in arguments_of(arguments):
                scope.bind(each.arg, None)
                self.annotation(each.annotation)
            around, self.uses.inside = self.uses.inside, True
            self.inner(node.body)
            self.uses.inside = around
        self.uses.asked = before

    def is_expected(self, around: Iterable[ast.expr]) -> bool:
        """Whether any context manager, or decorator, expects that something fails, or asks what there is."""
        return any(self.tests.expects(each) or self.tests.is_asked_by(each) for each in around)

    def inner(self, body: list[ast.stmt]) -> None:
        self.bindings.binds(body)
        self.block(body)

    def decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for each in node.decorator_list:
            self.uses.expression(each, decorates=True)

    def tried(self, node: ast.Try) -> None:
        before = self.uses.asked
        self.uses.asked = _Asked(before, partial(handles_absence, node))
        self.block(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self.uses.expression(handler.type)
            self.block(handler.body)
        self.block(node.orelse)
        self.uses.asked = before
        self.block(node.finalbody)

    def imported(self, node: ast.ImportFrom) -> None:
        if node.level or not node.module or node.module.partition(".")[0] not in self.packages:
            return
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            if full in self.wanted:
                self.uses.note(full, alias.name, alias, imports=alias.asname or alias.name)
            else:
                self.note_prefixes(node.module, alias)

    def note_prefixes(self, name: str, alias: ast.alias) -> None:
        """The longest wanted module that is imported on the way."""
        while name:
            if name in self.wanted:
                self.uses.note(name, name, alias)
                return
            name = name.rpartition(".")[0]


def _constructing(base: str, call: ast.Call, statement: ast.stmt, asked: bool) -> Reference:
    return Reference(base, base.rpartition(".")[2], call.func, statement, call, asked=asked, constructs=True)


def _is_constructor_of_base(function: ast.expr) -> bool:
    """Whether it is `super().__init__`."""
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return False
    return isinstance(function.value, ast.Call) and last_name(function.value.func) == "super"
