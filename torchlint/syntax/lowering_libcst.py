"""
From a libcst tree to the IR: one walk over the fields that carry meaning, never over white space.

Dispatches by the exact class of a node; uses no libcst metadata, matchers or visitors, because each of those costs more
than parsing. Resolves no names and judges nothing. Statements are here, their expressions in `lower_expressions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.syntax import ir
from torchlint.syntax.lowering_expressions import OPERATORS, Dispatch, ExpressionLowering, LoweringError

__all__ = ["LoweringError", "lower"]


def lower(module: cst.Module, text: str = "") -> ir.Program:
    """
    The program of a parsed file.

    Parameters
    ----------
    module
        Its tree.
    text
        What is written in it, for those who search for a word first.

    The `line` of a small statement that stands behind a colon (`if x: y = 1`) is the `cst.SimpleStatementSuite`.

    Raises
    ------
    LoweringError
        if it is nested deeper than Python's stack, holds a literal without a value, or a syntax unknown here.
    """
    lowering = _Lowering()
    body: list[ir.Statement] = []
    for statement in module.body:
        try:
            lowering.into(body, (statement,))
        except RecursionError as error:
            raise LoweringError("nested too deeply to be analysed", statement) from error
    return ir.Program(module, body, text)


class _Lowering(ExpressionLowering):
    __slots__ = ()

    def into(self, statements: list[ir.Statement], nodes: Iterable[cst.CSTNode]) -> None:
        for node in nodes:
            if type(node) is cst.SimpleStatementLine:
                for small in node.body:
                    statements.append(_SMALL[type(small)](self, small, node))
            else:
                statements.append(_COMPOUND[type(node)](self, node))

    def block(self, node: cst.BaseSuite) -> list[ir.Statement]:
        statements: list[ir.Statement] = []
        if type(node) is cst.IndentedBlock:
            self.into(statements, node.body)
        else:
            for small in node.body:
                statements.append(_SMALL[type(small)](self, small, node))
        return statements

    def assign(self, node: cst.Assign, line: cst.CSTNode) -> ir.Statement:
        targets = [self.target(one.target) for one in node.targets]
        return ir.Assign(node, line, targets, self.expression(node.value))

    def annotated(self, node: cst.AnnAssign, line: cst.CSTNode) -> ir.Statement:
        target, annotation = self.target(node.target), self.annotation(node.annotation)
        return ir.Assign(node, line, [target], self.optional(node.value), annotation)

    def augmented(self, node: cst.AugAssign, line: cst.CSTNode) -> ir.Statement:
        target, op = self.target(node.target), OPERATORS[type(node.operator)]
        return ir.AugmentedAssign(node, line, target, op, self.expression(node.value))

    def expression_statement(self, node: cst.Expr, line: cst.CSTNode) -> ir.Statement:
        return ir.ExpressionStatement(node, line, self.expression(node.value))

    def return_(self, node: cst.Return, line: cst.CSTNode) -> ir.Statement:
        return ir.Return(node, line, self.optional(node.value))

    def raise_(self, node: cst.Raise, line: cst.CSTNode) -> ir.Statement:
        if node.cause is not None:
            # The IR drops the cause, but a `yield` or `:=` in it counts for the scope.
            self.expression(node.cause.item)
        return ir.Raise(node, line, self.optional(node.exc))

    def assert_(self, node: cst.Assert, line: cst.CSTNode) -> ir.Statement:
        return ir.Assert(node, line, self.expression(node.test), self.optional(node.msg))

    def delete(self, node: cst.Del, line: cst.CSTNode) -> ir.Statement:
        # `del` makes a name local as an assignment does (CPython's symtable.c).
        target = self.target(node.target)
        if isinstance(target, ir.Sequence) and target.kind == "tuple" and not node.target.lpar:
            return ir.Delete(node, line, target.elements)
        return ir.Delete(node, line, [target])

    def pass_(self, node: cst.Pass, line: cst.CSTNode) -> ir.Statement:
        return ir.Pass(node, line)

    def break_(self, node: cst.Break, line: cst.CSTNode) -> ir.Statement:
        return ir.Break(node, line)

    def continue_(self, node: cst.Continue, line: cst.CSTNode) -> ir.Statement:
        return ir.Continue(node, line)

    def type_alias(self, node: cst.TypeAlias, line: cst.CSTNode) -> ir.Statement:
        self.bound.add(node.name.value)
        return ir.Pass(node, line)

    def global_(self, node: cst.Global, line: cst.CSTNode) -> ir.Statement:
        return self.declare("global", node, line)

    def nonlocal_(self, node: cst.Nonlocal, line: cst.CSTNode) -> ir.Statement:
        return self.declare("nonlocal", node, line)

    def declare(self, kind: str, node: cst.Global | cst.Nonlocal, line: cst.CSTNode) -> ir.Statement:
        names = [item.name.value for item in node.names]
        self.declared.update(names)
        return ir.Scope(node, line, kind, names)

    def import_(self, node: cst.Import, line: cst.CSTNode) -> ir.Statement:
        names = []
        for alias in node.names:
            module = _dotted(alias.name)
            if alias.asname is None:
                top = module.partition(".")[0]
                names.append(self.imported(ir.ImportName(alias, top, top, module)))
            else:
                names.append(self.imported(ir.ImportName(alias, _alias(alias.asname), module)))
        return ir.Import(node, line, names)

    def import_from(self, node: cst.ImportFrom, line: cst.CSTNode) -> ir.Statement:
        module = "." * len(node.relative) + ("" if node.module is None else _dotted(node.module))
        if isinstance(node.names, cst.ImportStar):
            return ir.Import(node, line, [ir.ImportName(node.names, "*", module)])
        prefix = module if module.endswith(".") else module + "."
        names = []
        for alias in node.names:
            name = _dotted(alias.name)
            bound = name if alias.asname is None else _alias(alias.asname)
            names.append(self.imported(ir.ImportName(alias, bound, prefix + name)))
        return ir.Import(node, line, names)

    def imported(self, name: ir.ImportName) -> ir.ImportName:
        self.bound.add(name.bound)
        return name

    def if_(self, node: cst.If) -> ir.Statement:
        first = last = ir.If(node, node, self.expression(node.test), self.block(node.body), [])
        orelse = node.orelse
        while isinstance(orelse, cst.If):
            branch = ir.If(orelse, orelse, self.expression(orelse.test), self.block(orelse.body), [])
            last.orelse.append(branch)
            last, orelse = branch, orelse.orelse
        last.orelse += self.clause(orelse)
        return first

    def clause(self, node: cst.Else | cst.Finally | None) -> list[ir.Statement]:
        return [] if node is None else self.block(node.body)

    def for_(self, node: cst.For) -> ir.Statement:
        target, iterable = self.target(node.target), self.expression(node.iter)
        return ir.For(node, node, target, iterable, self.block(node.body), self.clause(node.orelse))

    def while_(self, node: cst.While) -> ir.Statement:
        return ir.While(node, node, self.expression(node.test), self.block(node.body), self.clause(node.orelse))

    def with_(self, node: cst.With) -> ir.Statement:
        items = []
        for item in node.items:
            context = self.expression(item.item)
            target = None if item.asname is None else self.target(item.asname.name)
            items.append(ir.WithItem(item, context, target))
        return ir.With(node, node, items, self.block(node.body))

    def try_(self, node: cst.Try | cst.TryStar) -> ir.Statement:
        body = self.block(node.body)
        handlers = []
        for handler in node.handlers:
            name = "" if handler.name is None else _alias(handler.name)
            if name:
                self.bound.add(name)
            handlers.append(ir.Handler(handler, self.optional(handler.type), name, self.block(handler.body)))
        return ir.Try(node, node, body, handlers, self.clause(node.orelse), self.clause(node.finalbody))

    def match(self, node: cst.Match) -> ir.Statement:
        subject = self.expression(node.subject)
        cases = []
        for case in node.cases:
            bound = list(dict.fromkeys(_captures(case.pattern)))
            self.bound.update(bound)
            guard = self.optional(case.guard)
            cases.append(ir.Case(case, bound, guard, self.block(case.body), _irrefutable(case.pattern)))
        return ir.Match(node, node, subject, cases)

    def function(self, node: cst.FunctionDef) -> ir.Statement:
        name = node.name.value
        self.bound.add(name)
        decorators = [self.expression(one.decorator) for one in node.decorators]
        parameters, returns = self.parameters(node.params), self.annotation(node.returns)
        with self.scope():
            body = self.block(node.body)
            yields, assigned = self.yields, frozenset(self.bound - self.declared)
        is_async = node.asynchronous is not None
        inside = ir.Inside(body, yields, assigned)
        return ir.FunctionDef(node, node, name, parameters, inside, decorators, is_async, returns)

    def class_(self, node: cst.ClassDef) -> ir.Statement:
        name = node.name.value
        self.bound.add(name)
        decorators = [self.expression(one.decorator) for one in node.decorators]
        bases = self.arguments((*node.bases, *node.keywords))
        with self.scope():
            return ir.ClassDef(node, node, name, bases, self.block(node.body), decorators)


def _dotted(node: cst.CSTNode) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    parts.append(cst.ensure_type(node, cst.Name).value)
    return ".".join(reversed(parts))


def _alias(node: cst.AsName) -> str:
    return cst.ensure_type(node.name, cst.Name).value


def _captures(pattern: cst.CSTNode) -> Iterator[str]:
    """The names a pattern binds, in order; one that several alternatives bind comes several times."""
    inner: list[cst.CSTNode] = []
    name: cst.Name | None = None
    if isinstance(pattern, (cst.MatchAs, cst.MatchStar)):
        name = pattern.name
        if isinstance(pattern, cst.MatchAs) and pattern.pattern is not None:
            inner.append(pattern.pattern)
    elif isinstance(pattern, (cst.MatchOr, cst.MatchSequence)):
        inner += pattern.patterns
    elif isinstance(pattern, cst.MatchClass):
        inner += (*pattern.patterns, *pattern.kwds)
    elif isinstance(pattern, cst.MatchMapping):
        inner += pattern.elements
        name = pattern.rest
    elif isinstance(pattern, (cst.MatchOrElement, cst.MatchKeywordElement, cst.MatchMappingElement)):
        inner.append(pattern.pattern)
    elif isinstance(pattern, cst.MatchSequenceElement):
        inner.append(pattern.value)
    for one in inner:
        yield from _captures(one)
    if name is not None:
        yield name.value


def _irrefutable(pattern: cst.MatchPattern) -> bool:
    if isinstance(pattern, cst.MatchAs):
        return pattern.pattern is None or _irrefutable(pattern.pattern)
    return isinstance(pattern, cst.MatchOr) and any(_irrefutable(one.pattern) for one in pattern.patterns)


_SMALL: Dispatch[ir.Statement] = Dispatch(
    {
        cst.Assign: _Lowering.assign,
        cst.AnnAssign: _Lowering.annotated,
        cst.AugAssign: _Lowering.augmented,
        cst.Expr: _Lowering.expression_statement,
        cst.Return: _Lowering.return_,
        cst.Raise: _Lowering.raise_,
        cst.Assert: _Lowering.assert_,
        cst.Del: _Lowering.delete,
        cst.Pass: _Lowering.pass_,
        cst.Break: _Lowering.break_,
        cst.Continue: _Lowering.continue_,
        cst.TypeAlias: _Lowering.type_alias,
        cst.Global: _Lowering.global_,
        cst.Nonlocal: _Lowering.nonlocal_,
        cst.Import: _Lowering.import_,
        cst.ImportFrom: _Lowering.import_from,
    }
)
_COMPOUND: Dispatch[ir.Statement] = Dispatch(
    {
        cst.If: _Lowering.if_,
        cst.For: _Lowering.for_,
        cst.While: _Lowering.while_,
        cst.With: _Lowering.with_,
        cst.Try: _Lowering.try_,
        cst.TryStar: _Lowering.try_,
        cst.Match: _Lowering.match,
        cst.FunctionDef: _Lowering.function,
        cst.ClassDef: _Lowering.class_,
    }
)
# PEP 810's `lazy import`, which the oldest libcst allowed does not have.
for _newer, _method in (("LazyImport", _Lowering.import_), ("LazyImportFrom", _Lowering.import_from)):
    if hasattr(cst, _newer):
        _SMALL[getattr(cst, _newer)] = _method
