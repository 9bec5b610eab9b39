"""
From the tree of Python's own parser to the IR.

Every IR node keeps the node of the tree it was made from: its place (`place`), where libcst's node is found if somebody
wants it (`nodes`). Knows no torch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any

from torchlint.syntax import ir, kinds
from torchlint.syntax.children import first_line
from torchlint.syntax.expressions import OPERATORS, Dispatch, ExpressionLowering
from torchlint.syntax.expressions import UnknownSyntaxError as UnknownSyntaxError
from torchlint.syntax.outline import outline
from torchlint.syntax.reading import Reader
from torchlint.syntax.text import lines_of
from torchlint.syntax.tree import SourceError, python_tree, refusal
from torchlint.syntax.unread import Unread


def program_of(text: str, tree: ast.Module | None = None) -> ir.Program:
    """
    The program of a file's text; its tree need not be made again.

    Raises
    ------
    SourceError
        if it is no Python that the running Python knows, or nested too deeply.
    """
    try:
        return lower_ast(python_tree(text) if tree is None else tree, text)
    except UnknownSyntaxError as unknown:
        raise SourceError(str(unknown)) from unknown
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal(text, error) from error


def program_elsewhere(text: str) -> ir.Program:
    """
    The program of another file's text: what stands in its functions is left unread, and seldom parsed even (`outline`).

    Raises
    ------
    UnknownSyntaxError, SyntaxError, ValueError, RecursionError, MemoryError
        as `lower_ast` and `ast.parse`; of what stands in functions, only if it was parsed.
    """
    short = outline(text)
    try:
        tree = python_tree(short)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if short is text:
            raise
        tree = python_tree(text)
    return lower_ast(tree, text, lazily=True)


def lower_ast(module: ast.Module, text: str, *, lazily: bool = False) -> ir.Program:
    """
    The program of a file from Python's own tree.

    Parameters
    ----------
    module
        What `ast.parse` makes of the text.
    text
        The file.
    lazily
        What stands in functions is left unread until somebody asks; then what is raised here is raised there. It is
        cut off the tree: who keeps the program keeps no tree of what nobody reads.

    Raises
    ------
    UnknownSyntaxError
        for syntax newer than this module.
    RecursionError
        if it is nested deeper than Python's stack.
    """
    lowering = _Lowering(lines_of(text), lazily=lazily)
    held = tuple([lowering.held(node) for node in module.body])  # before bodies are cut off
    body = lowering.block(module.body)
    return ir.Program(module, body, text, held, tuple(lowering.naming), tuple(lowering.defined))


class _Lowering(ExpressionLowering):
    """One statement after the other."""

    __slots__ = ("defined", "lazily", "lines", "naming")

    def __init__(self, lines: list[str], *, lazily: bool) -> None:
        super().__init__()
        self.lines = lines
        self.lazily = lazily
        self.naming: list[ir.Import | ir.Assign] = []
        self.defined: list[ir.FunctionDef | ir.ClassDef] = []

    # -- statements

    def block(self, nodes: list[ast.stmt]) -> list[ir.Statement]:
        statements: list[ir.Statement] = []
        if nodes and type(nodes[0]) in _SMALL and self.behind_colon(nodes[0]):  # `if x: a; b`: the block is one line
            suite = kinds.suite(nodes[0])
            return [_SMALL[type(node)](self, node, suite) for node in nodes]
        line: Any = None
        ended = 0
        for node, following in zip(nodes, [*nodes[1:], None], strict=False):
            kind = type(node)
            if kind not in _SMALL:
                statements.append(_COMPOUND[kind](self, node))
                continue
            if node.lineno != ended:
                shared = following is not None and following.lineno == node.end_lineno
                line = kinds.shared_line(node) if shared else node
            ended = node.end_lineno or 0
            statements.append(_SMALL[kind](self, node, line))
        return statements

    def behind_colon(self, node: ast.stmt) -> bool:
        return bool(self.lines[node.lineno - 1][: node.col_offset].strip())

    def held(self, node: ast.stmt) -> tuple[int, int] | None:
        """The first and the last line of what a function or class holds, if no other part of it stands on these."""
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or self.behind_colon(
            node.body[0]
        ):
            return None
        first = node.body[0]
        return first_line(first), node.end_lineno or first.lineno

    def assign(self, node: ast.Assign, line: Any) -> ir.Statement:
        targets = [self.target(one) for one in node.targets]
        made = ir.Assign(node, line, targets, self.expression(node.value))
        self.reader.assign(made)
        if type(node.value) in _CHAINS and type(node.targets[0]) is ast.Name and len(targets) == 1:
            self.naming.append(made)
        return made

    def annotated(self, node: ast.AnnAssign, line: Any) -> ir.Statement:
        target, annotation = self.target(node.target), self.expression(node.annotation)
        made = ir.Assign(node, line, [target], self.optional(node.value), annotation)
        self.reader.assign(made)
        return made

    def augmented(self, node: ast.AugAssign, line: Any) -> ir.Statement:
        target = self.target(node.target)
        operator, value = OPERATORS[type(node.op)], self.expression(node.value)
        made = ir.AugmentedAssign(node, line, target, operator, value)
        self.reader.augmented(made)
        return made

    def expression_statement(self, node: ast.Expr, line: Any) -> ir.Statement:
        made = ir.ExpressionStatement(node, line, self.expression(node.value))
        self.reader.expression(made)
        return made

    def return_(self, node: ast.Return, line: Any) -> ir.Statement:
        return ir.Return(node, line, self.optional(node.value))

    def raise_(self, node: ast.Raise, line: Any) -> ir.Statement:
        if node.cause is not None:
            # The IR drops the cause, but a `yield` or `:=` in it counts for the scope.
            outer, self.reader = self.reader, Reader()
            self.expression(node.cause)
            self.reader = outer
        return ir.Raise(node, line, self.optional(node.exc))

    def assert_(self, node: ast.Assert, line: Any) -> ir.Statement:
        return ir.Assert(node, line, self.expression(node.test), self.optional(node.msg))

    def delete(self, node: ast.Delete, line: Any) -> ir.Statement:
        return ir.Delete(node, line, [self.target(one) for one in node.targets])

    def pass_(self, node: ast.Pass, line: Any) -> ir.Statement:
        return ir.Pass(node, line)

    def break_(self, node: ast.Break, line: Any) -> ir.Statement:
        return ir.Break(node, line)

    def continue_(self, node: ast.Continue, line: Any) -> ir.Statement:
        return ir.Continue(node, line)

    def type_alias(self, node: Any, line: Any) -> ir.Statement:
        self.bound.add(node.name.id)
        return ir.Pass(node, line)

    def global_(self, node: ast.Global, line: Any) -> ir.Statement:
        self.declared.update(node.names)
        return ir.Scope(node, line, "global", list(node.names))

    def nonlocal_(self, node: ast.Nonlocal, line: Any) -> ir.Statement:
        self.declared.update(node.names)
        return ir.Scope(node, line, "nonlocal", list(node.names))

    def import_(self, node: ast.Import, line: Any) -> ir.Statement:
        names = []
        for alias in node.names:
            if alias.asname is None:
                top = alias.name.partition(".")[0]
                names.append(self.imported(ir.ImportName(alias, top, top, alias.name)))
            else:
                names.append(self.imported(ir.ImportName(alias, alias.asname, alias.name)))
        return self.importing(ir.Import(node, line, names))

    def import_from(self, node: ast.ImportFrom, line: Any) -> ir.Statement:
        module = "." * node.level + (node.module or "")
        if node.names[0].name == "*":
            return self.importing(ir.Import(node, line, [ir.ImportName(node.names[0], "*", module)]))
        prefix = module if module.endswith(".") else module + "."
        names = [
            self.imported(ir.ImportName(alias, alias.asname or alias.name, prefix + alias.name)) for alias in node.names
        ]
        return self.importing(ir.Import(node, line, names))

    def importing(self, made: ir.Import) -> ir.Import:
        self.naming.append(made)
        return made

    def imported(self, name: ir.ImportName) -> ir.ImportName:
        self.bound.add(name.bound)
        return name

    def if_(self, node: ast.If) -> ir.Statement:
        first = last = ir.If(node, None, self.expression(node.test), self.block(node.body), [])
        orelse = node.orelse
        while len(orelse) == 1 and isinstance(orelse[0], ast.If):  # a chain of `elif` must not recurse
            inner = orelse[0]
            branch = ir.If(inner, None, self.expression(inner.test), self.block(inner.body), [])
            last.orelse.append(branch)
            last, orelse = branch, inner.orelse
        last.orelse += self.block(orelse)
        return first

    def for_(self, node: ast.For | ast.AsyncFor) -> ir.Statement:
        target, iterable = self.target(node.target), self.expression(node.iter)
        made = ir.For(node, None, target, iterable, self.block(node.body), self.block(node.orelse))
        self.reader.loop(made)
        return made

    def while_(self, node: ast.While) -> ir.Statement:
        made = ir.While(node, None, self.expression(node.test), self.block(node.body), self.block(node.orelse))
        self.reader.loop(made)
        return made

    def with_(self, node: ast.With | ast.AsyncWith) -> ir.Statement:
        items = []
        for item in node.items:
            context = self.expression(item.context_expr)
            target = None if item.optional_vars is None else self.target(item.optional_vars)
            items.append(ir.WithItem(item, context, target))
        made = ir.With(node, None, items, self.block(node.body))
        self.reader.with_(made)
        return made

    def try_(self, node: ast.Try) -> ir.Statement:
        return self.tried(node)

    def try_star(self, node: Any) -> ir.Statement:
        return self.tried(node)

    def tried(self, node: ast.Try) -> ir.Statement:
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            if handler.name:
                self.bound.add(handler.name)
            kind = self.optional(handler.type)
            handlers.append(ir.Handler(handler, kind, handler.name or "", self.block(handler.body)))
        return ir.Try(node, None, body, handlers, self.block(node.orelse), self.block(node.finalbody))

    def match(self, node: ast.Match) -> ir.Statement:
        subject = self.expression(node.subject)
        cases = []
        for case in node.cases:
            bound = list(dict.fromkeys(_captures(case.pattern)))
            self.bound.update(bound)
            guard = self.optional(case.guard)
            cases.append(ir.Case(case, bound, guard, self.block(case.body), _irrefutable(case.pattern)))
        return ir.Match(node, None, subject, cases)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ir.Statement:
        self.bound.add(node.name)
        decorators = [self.expression(one) for one in node.decorator_list]
        parameters, returns = self.parameters(node.args), self.optional(node.returns)
        inside, unread = None, None
        if self.lazily:
            end, indented = node.end_lineno or node.lineno, node.col_offset > 0
            start = node.lineno - 1
            unread = Unread(partial(_read, self.lines, start, end, indented, parameters), self.lines, start, end)
            node.body.clear()
        else:
            inside = self.inside(node, parameters)
        is_async = type(node) is ast.AsyncFunctionDef
        made = ir.FunctionDef(node, None, node.name, parameters, inside, decorators, is_async, returns, unread)
        self.defined.append(made)
        return made

    def inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef, parameters: list[ir.Parameter]) -> ir.Inside:
        outer, self.reader = self.reader, Reader(each.name for each in parameters)
        with self.scope():
            body = self.block(node.body)
            yields, assigned = self.yields, frozenset(self.bound - self.declared)
        written = self.reader.done()
        self.reader = outer
        outer.absorb(written)
        return ir.Inside(body, yields, assigned, written)

    def class_(self, node: ast.ClassDef) -> ir.Statement:
        self.bound.add(node.name)
        decorators = [self.expression(one) for one in node.decorator_list]
        bases = [self.argument(one) for one in node.bases] + [self.keyword(one) for one in node.keywords]
        with self.scope():
            made = ir.ClassDef(node, None, node.name, bases, self.block(node.body), decorators)
        self.reader.class_(made)
        self.defined.append(made)
        return made


_CHAINS = (ast.Attribute, ast.Name)


def _read(lines: list[str], start: int, end: int, indented: bool, parameters: list[ir.Parameter]) -> ir.Inside:
    """What stands in a function that was left unread: its lines once more, by themselves."""
    # on the lines where they stand in the file, so that places are those of the file
    own = [*[""] * (start - 1), "if 1:", *lines[start:end]] if indented else [*[""] * start, *lines[start:end]]
    try:
        found: Any = python_tree("\n".join(own)).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _unreadable(start, parameters)
    return _Lowering(own, lazily=False).inside(found.body[0] if indented else found, parameters)


def _unreadable(start: int, parameters: list[ir.Parameter]) -> ir.Inside:
    """What is no Python that this one knows: it may do anything to what the function is given, as unknown code does."""
    given = ", ".join((each.kind if each.kind in ("*", "**") else "") + each.name for each in parameters)
    own = [*[""] * start, f"def _(): return {UNREADABLE}({given})"]
    found: Any = python_tree("\n".join(own)).body[0]
    return _Lowering(own, lazily=False).inside(found, parameters)


UNREADABLE = "__unreadable__"
"""A name that no file binds."""


def _captures(pattern: ast.pattern) -> Iterator[str]:
    """The names a pattern binds, in order; one that several alternatives bind comes several times."""
    inner: list[ast.pattern] = []
    name: str | None = None
    if isinstance(pattern, ast.MatchAs):
        inner += [pattern.pattern] if pattern.pattern is not None else []
        name = pattern.name
    elif isinstance(pattern, ast.MatchStar):
        name = pattern.name
    elif isinstance(pattern, (ast.MatchOr, ast.MatchSequence)):
        inner += pattern.patterns
    elif isinstance(pattern, ast.MatchClass):
        inner += (*pattern.patterns, *pattern.kwd_patterns)
    elif isinstance(pattern, ast.MatchMapping):
        inner += pattern.patterns
        name = pattern.rest
    for one in inner:
        yield from _captures(one)
    if name is not None:
        yield name


def _irrefutable(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _irrefutable(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and any(_irrefutable(one) for one in pattern.patterns)


_SMALL: Dispatch[ir.Statement] = Dispatch(
    {
        ast.Assign: _Lowering.assign,
        ast.AnnAssign: _Lowering.annotated,
        ast.AugAssign: _Lowering.augmented,
        ast.Expr: _Lowering.expression_statement,
        ast.Return: _Lowering.return_,
        ast.Raise: _Lowering.raise_,
        ast.Assert: _Lowering.assert_,
        ast.Delete: _Lowering.delete,
        ast.Pass: _Lowering.pass_,
        ast.Break: _Lowering.break_,
        ast.Continue: _Lowering.continue_,
        ast.Global: _Lowering.global_,
        ast.Nonlocal: _Lowering.nonlocal_,
        ast.Import: _Lowering.import_,
        ast.ImportFrom: _Lowering.import_from,
    }
)
_COMPOUND: Dispatch[ir.Statement] = Dispatch(
    {
        ast.If: _Lowering.if_,
        ast.For: _Lowering.for_,
        ast.AsyncFor: _Lowering.for_,
        ast.While: _Lowering.while_,
        ast.With: _Lowering.with_,
        ast.AsyncWith: _Lowering.with_,
        ast.Try: _Lowering.try_,
        ast.Match: _Lowering.match,
        ast.FunctionDef: _Lowering.function,
        ast.AsyncFunctionDef: _Lowering.function,
        ast.ClassDef: _Lowering.class_,
    }
)
# Classes that the oldest Python allowed does not have.
if hasattr(ast, "TryStar"):
    _COMPOUND[ast.TryStar] = _Lowering.try_star
if hasattr(ast, "TypeAlias"):
    _SMALL[ast.TypeAlias] = _Lowering.type_alias
