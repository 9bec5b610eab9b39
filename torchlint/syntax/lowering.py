"""
From the tree of Python's own parser to the IR.

Every IR node keeps the node of the tree it was made from: its place (`place`), where libcst's node is found if somebody
wants it (`nodes`). Knows no torch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar, cast

from torchlint.syntax import ir
from torchlint.syntax.features import Reader
from torchlint.syntax.scopes import ScopedLowering
from torchlint.syntax.tree import MOST_NESTED, NEWLINE, SourceError, python_tree, refusal

_Lowered = TypeVar("_Lowered")


class UnknownSyntaxError(Exception):
    """The tree has a node that this module does not know: newer than it."""


def program_of(text: str) -> ir.Program:
    """
    The program of a file's text.

    Raises
    ------
    SourceError
        if it is no Python that the running Python knows, or nested too deeply.
    """
    try:
        return lower_ast(python_tree(text), text)
    except UnknownSyntaxError as error:
        raise SourceError(str(error)) from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal(text, error) from error


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
        What stands in functions is left unread until somebody asks; then what is raised here is raised there.

    Raises
    ------
    UnknownSyntaxError
        for syntax newer than this module.
    RecursionError
        if it is nested deeper than Python's stack.
    """
    lowering = _Lowering(NEWLINE.split(text), lazily=lazily)
    body = lowering.block(module.body)
    return ir.Program(module, body, text, tuple([lowering.held(node) for node in module.body]))


class _Lowering(ScopedLowering):
    """One statement and expression after the other."""

    __slots__ = ("depth", "lazily", "lines", "reader")

    def __init__(self, lines: list[str], *, lazily: bool) -> None:
        super().__init__()
        self.lines = lines
        self.lazily = lazily
        self.depth = 0
        self.reader = Reader()

    # -- statements

    def block(self, nodes: list[ast.stmt]) -> list[ir.Statement]:
        statements: list[ir.Statement] = []
        if nodes and type(nodes[0]) in _SMALL and self.behind_colon(nodes[0]):  # `if x: a; b`: the block is one line
            suite = ir.suite(nodes[0])
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
                line = ir.shared_line(node) if shared else node
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
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        return min([first.lineno, *(each.lineno for each in decorators)]), node.end_lineno or first.lineno

    def assign(self, node: ast.Assign, line: Any) -> ir.Statement:
        targets = [self.target(one) for one in node.targets]
        made = ir.Assign(node, line, targets, self.expression(node.value))
        self.reader.assign(made)
        return made

    def annotated(self, node: ast.AnnAssign, line: Any) -> ir.Statement:
        target, annotation = self.target(node.target), self.expression(node.annotation)
        made = ir.Assign(node, line, [target], self.optional(node.value), annotation)
        self.reader.assign(made)
        return made

    def augmented(self, node: ast.AugAssign, line: Any) -> ir.Statement:
        target = self.target(node.target)
        operator, value = _OPERATORS[type(node.op)], self.expression(node.value)
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
        return ir.Import(node, line, names)

    def import_from(self, node: ast.ImportFrom, line: Any) -> ir.Statement:
        module = "." * node.level + (node.module or "")
        if node.names[0].name == "*":
            return ir.Import(node, line, [ir.ImportName(node.names[0], "*", module)])
        prefix = module if module.endswith(".") else module + "."
        names = [
            self.imported(ir.ImportName(alias, alias.asname or alias.name, prefix + alias.name)) for alias in node.names
        ]
        return ir.Import(node, line, names)

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
            unread = partial(_read, self.lines, node.lineno - 1, end, indented, parameters)
        else:
            inside = self.inside(node, parameters)
        is_async = type(node) is ast.AsyncFunctionDef
        return ir.FunctionDef(node, None, node.name, parameters, inside, decorators, is_async, returns, unread)

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
        return made

    # -- expressions

    def expression(self, node: ast.AST) -> ir.Expression:
        if self.depth >= MOST_NESTED:
            return ir.TooDeep(node)
        self.depth += 1
        made = _EXPRESSIONS[type(node)](self, node)
        self.depth -= 1
        return made

    def optional(self, node: ast.AST | None) -> ir.Expression | None:
        return None if node is None else _EXPRESSIONS[type(node)](self, node)

    def name(self, node: ast.Name) -> ir.Expression:
        self.reader.names.append(node.id)
        return ir.Name(node, node.id)

    def constant(self, node: ast.Constant) -> ir.Expression:
        return ir.Constant(node, node.value)

    def formatted(self, node: Any) -> ir.Expression:
        parts: list[ir.Expression] = []
        self.placeholders(node.values, parts)
        return ir.FormattedString(node, parts)

    def placeholders(self, pieces: Iterable[Any], into: list[ir.Expression]) -> None:
        for piece in pieces:
            if type(piece) is not ast.Constant:
                into.append(self.expression(piece.value))
                if piece.format_spec is not None:
                    self.placeholders(piece.format_spec.values, into)

    def attribute(self, node: ast.Attribute) -> ir.Expression:
        self.reader.attributes.append(node.attr)
        return ir.Attribute(node, self.expression(node.value), node.attr)

    def subscript(self, node: ast.Subscript) -> ir.Expression:
        made = self.subscripted(node)
        self.reader.subscript(made)
        return made

    def subscripted(self, node: ast.Subscript) -> ir.Subscript:
        value, index = self.expression(node.value), node.slice
        if type(index) is not ast.Tuple or not index.elts:
            return ir.Subscript(node, value, self.expression(index))
        first, last = index.elts[0], index.elts[-1]
        bare = _place(index) == _place(first) or _end(index) == _end(last)
        # `x[(a, b)]` or `x[(a), (b)]`: only the text knows. A bare tuple has no node of its own.
        place = ir.shared_subscript(node) if bare else node
        lowered = [self.index(one) if bare else self.expression(one) for one in index.elts]
        return ir.Subscript(place, value, ir.Sequence(place if bare else index, "tuple", lowered))

    def index(self, node: ast.expr) -> ir.Expression:
        if type(node) is ast.Starred:
            return ir.Starred(ir.starred_index(node), self.expression(node.value))
        return self.expression(node)

    def slice(self, node: ast.Slice) -> ir.Expression:
        lower, upper, step = self.optional(node.lower), self.optional(node.upper), self.optional(node.step)
        return ir.Slice(node, lower, upper, step)

    def call(self, node: ast.Call) -> ir.Expression:
        function = self.expression(node.func)
        positional, keywords = node.args, node.keywords
        if keywords and positional and _place(positional[-1]) > _place(keywords[0]):  # `f(k=1, *rest)`
            mixed: list[ast.expr | ast.keyword] = sorted((*positional, *keywords), key=_place)
            arguments = [self.keyword(one) if isinstance(one, ast.keyword) else self.argument(one) for one in mixed]
        else:
            arguments = [self.argument(one) for one in positional]
            arguments += [self.keyword(one) for one in keywords]
        made = ir.Call(node, function, arguments)
        self.reader.call(made)
        return made

    def argument(self, node: ast.expr) -> ir.Argument:
        if type(node) is ast.Starred:
            return ir.Argument(node.value, self.expression(node.value), "", "*")
        return ir.Argument(node, _EXPRESSIONS[type(node)](self, node))

    def keyword(self, node: ast.keyword) -> ir.Argument:
        if node.arg is None:
            return ir.Argument(node.value, self.expression(node.value), "", "**")
        return ir.Argument(node.value, self.expression(node.value), node.arg)

    def binary(self, node: ast.BinOp) -> ir.Expression:
        left = self.expression(node.left)
        made = ir.Binary(node, _OPERATORS[type(node.op)], left, self.expression(node.right))
        self.reader.binary(made)
        return made

    def boolean(self, node: ast.BoolOp) -> ir.Expression:
        op = "and" if type(node.op) is ast.And else "or"
        return ir.Boolean(node, op, [self.expression(one) for one in node.values])

    def comparison(self, node: ast.Compare) -> ir.Expression:
        left, ops = self.expression(node.left), [_COMPARISONS[type(op)] for op in node.ops]
        made = ir.Compare(node, left, ops, [self.expression(one) for one in node.comparators])
        self.reader.compare(made)
        return made

    def unary(self, node: ast.UnaryOp) -> ir.Expression:
        return ir.Unary(node, _UNARY[type(node.op)], self.expression(node.operand))

    def conditional(self, node: ast.IfExp) -> ir.Expression:
        test, body = self.expression(node.test), self.expression(node.body)
        return ir.Conditional(node, test, body, self.expression(node.orelse))

    def tuple_(self, node: ast.Tuple) -> ir.Expression:
        return ir.Sequence(node, "tuple", [self.expression(one) for one in node.elts])

    def list_(self, node: ast.List) -> ir.Expression:
        return ir.Sequence(node, "list", [self.expression(one) for one in node.elts])

    def set_(self, node: ast.Set) -> ir.Expression:
        return ir.Sequence(node, "set", [self.expression(one) for one in node.elts])

    def starred(self, node: ast.Starred) -> ir.Expression:
        return ir.Starred(node, self.expression(node.value))

    def dict_(self, node: ast.Dict) -> ir.Expression:
        keys: list[ir.Expression | None] = []
        values = []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(self.optional(key))
            values.append(self.expression(value))
        return ir.Dict(node, keys, values)

    def list_comprehension(self, node: ast.ListComp) -> ir.Expression:
        return ir.Comprehension(node, "list", self.expression(node.elt), self.generators(node.generators))

    def set_comprehension(self, node: ast.SetComp) -> ir.Expression:
        return ir.Comprehension(node, "set", self.expression(node.elt), self.generators(node.generators))

    def generator(self, node: ast.GeneratorExp) -> ir.Expression:
        return ir.Comprehension(node, "generator", self.expression(node.elt), self.generators(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> ir.Expression:
        key, value = self.optional(node.key), self.expression(node.value)
        return ir.Comprehension(node, "dict", value, self.generators(node.generators), key)

    def generators(self, nodes: list[ast.comprehension]) -> list[ir.Generator]:
        generators = []
        for node in nodes:
            tests = [self.expression(test) for test in node.ifs]
            target, iterable = self.expression(node.target), self.expression(node.iter)
            generators.append(ir.Generator(node, target, iterable, tests))
        return generators

    def lambda_(self, node: ast.Lambda) -> ir.Expression:
        parameters = self.parameters(node.args)
        with self.scope():
            return ir.Lambda(node, parameters, self.expression(node.body))

    def walrus(self, node: ast.NamedExpr) -> ir.Expression:
        target = cast(ir.Name, self.target(node.target))
        return ir.Assigned(node, target, self.expression(node.value))

    def yield_(self, node: ast.Yield) -> ir.Expression:
        self.yields = True
        return ir.Yield(node, self.optional(node.value))

    def yield_from(self, node: ast.YieldFrom) -> ir.Expression:
        self.yields = True
        return ir.Yield(node, self.expression(node.value), True)

    def await_(self, node: ast.Await) -> ir.Expression:
        return ir.Await(node, self.expression(node.value))

    def parameters(self, node: ast.arguments) -> list[ir.Parameter]:
        required = len(node.posonlyargs) + len(node.args) - len(node.defaults)
        defaults: Iterator[ast.expr | None] = iter([*[None] * required, *node.defaults])
        parameters = [self.parameter(one, "positional-only", next(defaults)) for one in node.posonlyargs]
        parameters += [self.parameter(one, "positional", next(defaults)) for one in node.args]
        if node.vararg is not None:
            parameters.append(self.parameter(node.vararg, "*", None))
        for one, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            parameters.append(self.parameter(one, "keyword-only", default))
        if node.kwarg is not None:
            parameters.append(self.parameter(node.kwarg, "**", None))
        return parameters

    def parameter(self, node: ast.arg, kind: str, default: ast.expr | None) -> ir.Parameter:
        return ir.Parameter(node, node.arg, kind, self.optional(default), self.optional(node.annotation))

    def target(self, node: ast.expr) -> ir.Expression:
        """A target of an assignment, a loop, `with`, `del`: an expression whose names get bound here."""
        target = self.expression(node)
        self.bind(target)
        return target


def _read(lines: list[str], start: int, end: int, indented: bool, parameters: list[ir.Parameter]) -> ir.Inside:
    """What stands in a function that was left unread: its lines once more, by themselves."""
    # on the lines where they stand in the file, so that places are those of the file
    own = [*[""] * (start - 1), "if 1:", *lines[start:end]] if indented else [*[""] * start, *lines[start:end]]
    found: Any = python_tree("\n".join(own)).body[0]
    return _Lowering(own, lazily=False).inside(found.body[0] if indented else found, parameters)


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


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


class _Dispatch(dict[type[ast.AST], Callable[..., _Lowered]]):
    """From a node's class to its method."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[..., _Lowered]:
        raise UnknownSyntaxError(f"the syntax {kind.__name__} is not known here")


_SMALL: _Dispatch[ir.Statement] = _Dispatch(
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
_COMPOUND: _Dispatch[ir.Statement] = _Dispatch(
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
_EXPRESSIONS: _Dispatch[ir.Expression] = _Dispatch(
    {
        ast.Name: _Lowering.name,
        ast.Constant: _Lowering.constant,
        ast.JoinedStr: _Lowering.formatted,
        ast.Attribute: _Lowering.attribute,
        ast.Subscript: _Lowering.subscript,
        ast.Slice: _Lowering.slice,
        ast.Call: _Lowering.call,
        ast.BinOp: _Lowering.binary,
        ast.BoolOp: _Lowering.boolean,
        ast.Compare: _Lowering.comparison,
        ast.UnaryOp: _Lowering.unary,
        ast.IfExp: _Lowering.conditional,
        ast.Tuple: _Lowering.tuple_,
        ast.List: _Lowering.list_,
        ast.Set: _Lowering.set_,
        ast.Starred: _Lowering.starred,
        ast.Dict: _Lowering.dict_,
        ast.ListComp: _Lowering.list_comprehension,
        ast.SetComp: _Lowering.set_comprehension,
        ast.GeneratorExp: _Lowering.generator,
        ast.DictComp: _Lowering.dict_comprehension,
        ast.Lambda: _Lowering.lambda_,
        ast.NamedExpr: _Lowering.walrus,
        ast.Yield: _Lowering.yield_,
        ast.YieldFrom: _Lowering.yield_from,
        ast.Await: _Lowering.await_,
    }
)
# Classes that the oldest Python allowed does not have.
if hasattr(ast, "TryStar"):
    _COMPOUND[ast.TryStar] = _Lowering.try_star
if hasattr(ast, "TypeAlias"):
    _SMALL[ast.TypeAlias] = _Lowering.type_alias
if hasattr(ast, "TemplateStr"):
    _EXPRESSIONS[ast.TemplateStr] = _Lowering.formatted

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
