"""
Every place of a file that names something of a package: imports, aliases, attributes, decorators, annotations.

Walks Python's own tree with the scopes of the language and runs nothing: a name stands for what an import (or one plain
assignment of a dotted name) bound it to, and for nothing where it is bound in any other way too. Says of each place
whether its author asked first: a version, `hasattr`, a `try`. Knows of no package what is in it.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

_ABSENCE = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"})
"""What Python raises where a name or an argument is not there."""
_BROAD = frozenset({"Exception", "BaseException", "RuntimeError", "NotImplementedError"})
_FEW = 2
"""Statements of a `try` up to which somebody who catches everything means what is in it."""
_IMPORTS = (ast.Import, ast.ImportFrom)
_ASKS = frozenset({"hasattr", "find_spec", "callable", "signature", "getfullargspec", "getattr_static"})
_SAYS_VERSION = re.compile(
    r"version|compat|legacy|^_?has_|^_?supports?_|(torch|pt)_?(\d|ge|gt|le|lt|eq|greater|less|at_least|min|max|maj|pre|"
    r"post|new|old)|(torch|compile|dynamo|amp|sdpa|fx|dtensor|functorch|attention).*avail|^is_torch|torch_is",
    re.IGNORECASE,
)
_EXPECTS = frozenset({"raises", "warns", "deprecated_call", "catch_warnings", "suppress", "skipif"})
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
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
        A table has it as a key, or under its own name: it is spoken of there, and not used.
    constructs
        `super().__init__(...)` in a class that has nothing but this for a base: `call` gives it arguments.
    """

    name: str
    spelled: str
    node: ast.expr | ast.alias
    call: ast.Call | None = None
    decorates: bool = False
    imports: str = ""
    again: bool = False
    asked: bool = False
    listed: bool = False
    constructs: bool = False


def references(tree: ast.Module, wanted: Container[str], packages: Collection[str]) -> list[Reference]:
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
    """
    walk = _Walk(wanted, packages)
    walk.module(tree)
    found = [each for each in walk.found if each.name not in walk.provided]
    return sorted(found, key=lambda each: (each.node.lineno, each.node.col_offset))


def asked_methods(tree: ast.Module, methods: Container[str]) -> set[tuple[int, int]]:
    """
    Where a file calls methods of these names, of whatever, and has asked what there is: line and column of the end of
    each `receiver.method`.
    """
    walk = _Walk((), ())
    walk.methods = methods
    walk.module(tree)
    return walk.asked_methods


class _Scope:
    """
    The names of a module, function, class or comprehension.

    A name stands for a dotted one, or (`None`) for something else.
    """

    __slots__ = ("bound", "is_class", "outer", "stars")

    def __init__(self, outer: _Scope | None, *, is_class: bool = False) -> None:
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
        scope: _Scope | None = self
        first = True
        while scope is not None:
            if name in scope.bound and (first or not scope.is_class):
                return scope.bound[name]
            scope, first = scope.outer, False
        return ""

    def starred(self, name: str, wanted: Container[str]) -> str:
        """What a name stands for that nothing binds but perhaps an import of everything."""
        scope: _Scope | None = self
        while scope is not None:
            for source in reversed(scope.stars):
                if f"{source}.{name}" in wanted:
                    return f"{source}.{name}"
            scope = scope.outer
        return ""


class _Walk:
    def __init__(self, wanted: Container[str], packages: Collection[str]) -> None:
        self.wanted = wanted
        self.packages = packages
        self.found: list[Reference] = []
        self.provided: set[str] = set()
        """What the file itself puts into the package."""
        self.scope = _Scope(None)
        self.root = self.scope
        self.asked = False
        self.listed = False
        self.base = ""  # what the class around derives from, if that is one thing
        self.methods: Container[str] = ()
        self.asked_methods = set[tuple[int, int]]()
        self.flags: set[str] = set()
        """Names that hold the answer to a question about versions, or whether something could be imported."""
        self.deferred = False
        """Annotations are never evaluated (https://peps.python.org/pep-0563/)."""

    def module(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and self.asks(node.value):
                self.flags |= _assigned(node)
            elif isinstance(node, ast.Try) and any(
                isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body
            ):
                handled = [each for handler in node.handlers for each in handler.body]
                self.flags |= {name for each in (*node.body, *handled, *node.orelse) for name in _assigned(each)}
            elif isinstance(node, ast.ImportFrom) and node.module == "__future__":
                self.deferred = self.deferred or any(alias.name == "annotations" for alias in node.names)
        self.binds(tree.body)
        self.block(tree.body)

    # What a scope binds.

    def binds(self, body: Iterable[ast.AST]) -> None:
        """Note what statements bind in the present scope; functions and classes in them have their own."""
        stack = list(body)
        assigned: list[tuple[str, ast.expr]] = []
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Import):
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
                stack += [part for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                self.scope.bind(node.name, None)
                stack += ast.iter_child_nodes(node)
            else:
                if isinstance(node, ast.ExceptHandler) and node.name:
                    self.scope.bind(node.name, None)
                stack += ast.iter_child_nodes(node)
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

    # Statements.

    def block(self, body: list[ast.stmt]) -> None:
        """Statements one after the other; what follows a test that leaves has been asked about."""
        before = self.asked
        for node, after in zip_longest(body, body[1:]):
            asked = self.asked
            self.asked = asked or (isinstance(after, ast.If) and _replaces(after, node) and self.asks(after.test))
            self.statement(node)
            self.asked = asked
            if isinstance(node, ast.If) and self.asks(node.test) and _leaves(node.body):
                self.asked = True
        self.asked = before

    def statement(self, node: ast.stmt) -> None:
        before = self.asked
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(node)
        elif isinstance(node, ast.ClassDef):
            self.decorators(node)
            for part in (*node.bases, *(each.value for each in node.keywords)):
                self.expression(part)
            around, self.base = self.base, self.dotted(node.bases[0]) if len(node.bases) == 1 else ""
            self.inner(_Scope(self.scope, is_class=True), node.body)
            self.base = around
        elif isinstance(node, ast.If):
            self.expression(node.test)
            self.asked = before or self.asks(node.test)
            self.block(node.body)
            self.block(node.orelse)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.expression(node.target)
            self.expression(node.iter)
            self.block(node.body)
            self.block(node.orelse)
        elif isinstance(node, ast.While):
            self.expression(node.test)
            self.block(node.body)
            self.block(node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.asked = before or any(self.expects(each.context_expr) for each in node.items)
            for item in node.items:
                self.expression(item.context_expr)
                if item.optional_vars is not None:
                    self.expression(item.optional_vars)
            self.block(node.body)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self.tried(node)  # type: ignore[arg-type]
        elif isinstance(node, ast.Match):
            self.expression(node.subject)
            for case in node.cases:
                self.expression(case.pattern)
                if case.guard is not None:
                    self.expression(case.guard)
                self.block(case.body)
        elif isinstance(node, ast.ImportFrom):
            self.imported(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self.note_prefixes(alias.name, alias)
        elif not isinstance(node, (ast.Global, ast.Nonlocal)):
            self.asked = before or (isinstance(node, ast.Assert) and self.asks(node.test))
            for child in ast.iter_child_nodes(node):
                if isinstance(node, ast.AnnAssign) and child is node.annotation:
                    self.annotation(child)
                else:
                    self.expression(child)
        self.asked = before

    def annotation(self, node: ast.AST | None) -> None:
        """What is never evaluated uses nothing."""
        before = self.asked
        self.asked = before or self.deferred
        if node is not None:
            self.expression(node)
        self.asked = before

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = self.asked
        self.asked = before or any(self.expects(each) for each in node.decorator_list)
        self.decorators(node)
        arguments = node.args
        for part in (*arguments.defaults, *arguments.kw_defaults):
            if part is not None:
                self.expression(part)
        self.annotation(node.returns)
        scope = _Scope(self.scope)
        for each in _arguments(arguments):
            scope.bind(each.arg, None)
            self.annotation(each.annotation)
        self.inner(scope, node.body)
        self.asked = before

    def inner(self, scope: _Scope, body: list[ast.stmt]) -> None:
        self.scope = scope
        self.binds(body)
        self.block(body)
        assert scope.outer is not None
        self.scope = scope.outer

    def decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for each in node.decorator_list:
            self.expression(each, decorates=True)

    def tried(self, node: ast.Try) -> None:
        caught = {name for handler in node.handlers for name in _caught(handler.type)}
        knows = bool(caught & _ABSENCE)
        knows = knows or (bool(caught & _BROAD) and len(node.body) <= _FEW)
        before = self.asked
        self.asked = before or knows
        self.block(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self.expression(handler.type)
            self.block(handler.body)
        self.block(node.orelse)
        self.asked = before
        self.block(node.finalbody)

    def imported(self, node: ast.ImportFrom) -> None:
        if node.level or not node.module or node.module.partition(".")[0] not in self.packages:
            return
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            if full in self.wanted:
                self.note(full, alias.name, alias, imports=alias.asname or alias.name)
            else:
                self.note_prefixes(node.module, alias)

    def note_prefixes(self, name: str, alias: ast.alias) -> None:
        """The longest wanted module that is imported on the way."""
        while name:
            if name in self.wanted:
                self.note(name, name, alias)
                return
            name = name.rpartition(".")[0]

    # Expressions.

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
                self.listed = named
                self.expression(value)
                self.listed = False
        elif isinstance(node, ast.IfExp):
            self.expression(node.test)
            before = self.asked
            self.asked = before or self.asks(node.test)
            self.expression(node.body)
            self.expression(node.orelse)
            self.asked = before
        elif isinstance(node, ast.BoolOp):
            before = self.asked
            for each in node.values:
                self.expression(each)
                self.asked = self.asked or self.asks(each)
            self.asked = before
        elif isinstance(node, ast.Lambda):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.expression(default)
            scope = _Scope(self.scope)
            for argument in _arguments(node.args):
                scope.bind(argument.arg, None)
            self.scope = scope
            self.expression(node.body)
            assert scope.outer is not None
            self.scope = scope.outer
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            scope = _Scope(self.scope)
            self.scope = scope
            self.binds([each.target for each in node.generators])
            for part in ast.iter_child_nodes(node):
                self.expression(part)
            assert scope.outer is not None
            self.scope = scope.outer
        elif not isinstance(node, (ast.Constant, ast.expr_context, ast.operator)):
            for part in ast.iter_child_nodes(node):
                self.expression(part)

    def called(self, node: ast.Call) -> None:
        if isinstance(node.func, (ast.Attribute, ast.Name)):
            self.chain(node.func, node, False)
        else:
            self.expression(node.func)
        if self.asked and isinstance(node.func, ast.Attribute) and node.func.attr in self.methods:
            self.asked_methods.add((node.func.end_lineno or 0, node.func.end_col_offset or 0))
        if self.base and self.base in self.wanted and _is_constructor_of_base(node.func):
            self.found.append(_constructing(self.base, node, self.asked))
        before = self.asked
        self.asked = before or self.expects(node)
        for part in (*node.args, *(each.value for each in node.keywords)):
            self.expression(part)
        self.asked = before

    def chain(self, node: ast.Attribute | ast.Name, call: ast.Call | None, decorates: bool) -> None:
        name = self.dotted(node)
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
                if not isinstance(node.ctx, ast.Load):
                    if isinstance(node, ast.Attribute):  # a plain name is only a name for it
                        self.provided.add(name)
                elif (again := self.is_again(part, name)) <= (call is not None or decorates):
                    own, spelled = call if outermost else None, ast.unparse(part)
                    more = (decorates and outermost, "", again, self.asked, self.listed and own is None)
                    self.found.append(Reference(name, spelled, part, own, *more))
                return
            if not isinstance(part, ast.Attribute):
                return
            part, name, outermost = part.value, name.rpartition(".")[0], False

    def is_again(self, part: ast.expr, name: str) -> bool:
        """Whether it is a plain name, bound where the name itself was written in full, and is reported there."""
        return isinstance(part, ast.Name) and self.scope.find(part.id) == name

    def note(self, name: str, spelled: str, node: ast.expr | ast.alias, imports: str = "") -> None:
        self.found.append(Reference(name, spelled, node, imports=imports, asked=self.asked))

    # Questions.

    def asks(self, test: ast.AST) -> bool:
        """Whether an expression asks what there is: `hasattr`, a version, a name that says so."""
        for node in ast.walk(test):
            if isinstance(node, ast.Call) and _last(node.func) in _ASKS:
                return True
            if isinstance(node, ast.Call) and _last(node.func) == "getattr" and len(node.args) > 2:
                return True
            if isinstance(node, ast.Name) and (node.id in self.flags or _SAYS_VERSION.search(node.id)):
                return True
            if isinstance(node, ast.Attribute) and _SAYS_VERSION.search(node.attr):
                return True
            if isinstance(node, ast.Name) and node.id == "TYPE_CHECKING":
                return True
        return False

    def expects(self, node: ast.expr) -> bool:
        """Whether what is under a context manager or a decorator is expected to fail, or to warn."""
        if not isinstance(node, ast.Call):
            return False
        last = _last(node.func)
        if last in _EXPECTS or last.startswith(("assertRaises", "assertWarns")):
            return last != "skipif" or any(map(self.asks, node.args))
        return False


def _assigned(node: ast.stmt) -> set[str]:
    """The names that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _constructing(base: str, call: ast.Call, asked: bool) -> Reference:
    return Reference(base, ast.unparse(call.func), call.func, call, asked=asked, constructs=True)


def _is_constructor_of_base(function: ast.expr) -> bool:
    """Whether it is `super().__init__`."""
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return False
    return isinstance(function.value, ast.Call) and _last(function.value.func) == "super"


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _caught(node: ast.expr | None) -> Iterator[str]:
    if node is None:
        yield "BaseException"
    elif isinstance(node, ast.Tuple):
        for each in node.elts:
            yield from _caught(each)
    else:
        yield _last(node)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return every + [each for each in (arguments.vararg, arguments.kwarg) if each is not None]


def _replaces(branch: ast.If, before: ast.stmt) -> bool:
    """Whether a branch binds anew what the statement before it binds: that held until something better is there."""
    names = {ast.unparse(target) for target in before.targets} if isinstance(before, ast.Assign) else set()
    return any(
        isinstance(each, ast.Assign) and not names.isdisjoint(ast.unparse(target) for target in each.targets)
        for each in branch.body
    )


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
