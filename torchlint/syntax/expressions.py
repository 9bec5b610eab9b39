"""
Expressions, from the tree of Python's own parser to the IR.

Knows no statements (`lowering` does) and no torch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from torchlint.syntax import ir, kinds
from torchlint.syntax.features import CONVERSIONS
from torchlint.syntax.reading import Reader, note_conversion
from torchlint.syntax.scopes import ScopedLowering
from torchlint.syntax.tree import MOST_NESTED

Lowered = TypeVar("Lowered")


class UnknownSyntaxError(Exception):
    """The tree has a node that this module does not know: newer than it."""


class Dispatch(dict[type[ast.AST], Callable[..., Lowered]]):
    """From a node's class to its method."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[..., Lowered]:
        raise UnknownSyntaxError(f"the syntax {kind.__name__} is not known here")


class ExpressionLowering(ScopedLowering):
    """One expression after the other."""

    __slots__ = ("depth", "reader")

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.reader = Reader()

    def expression(self, node: ast.AST) -> ir.Expression:
        if type(node) is ast.Name:  # most of what there is, and as deep as it gets; as `name`
            self.reader.names.append(node.id)
            return ir.Name(node, node.id)
        if self.depth >= MOST_NESTED:
            return ir.TooDeep(node)
        if type(node) is ast.Constant:  # as `constant`: nothing is in it
            return ir.Constant(node, node.value)
        self.depth += 1
        made = _EXPRESSIONS[type(node)](self, node)
        self.depth -= 1
        return made

    def optional(self, node: ast.AST | None) -> ir.Expression | None:
        if type(node) is ast.Constant:  # most: keys of a dictionary, defaults
            return ir.Constant(node, node.value)
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
        made = ir.Attribute(node, self.expression(node.value), node.attr)
        if node.attr in CONVERSIONS:
            note_conversion(self.reader, made)
        return made

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
        place = kinds.shared_subscript(node) if bare else node
        lowered = [self.index(one) if bare else self.expression(one) for one in index.elts]
        return ir.Subscript(place, value, ir.Sequence(place if bare else index, "tuple", lowered))

    def index(self, node: ast.expr) -> ir.Expression:
        if type(node) is ast.Starred:
            return ir.Starred(kinds.starred_index(node), self.expression(node.value))
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
        made = ir.Binary(node, OPERATORS[type(node.op)], left, self.expression(node.right))
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


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


_EXPRESSIONS: Dispatch[ir.Expression] = Dispatch(
    {
        ast.Name: ExpressionLowering.name,
        ast.Constant: ExpressionLowering.constant,
        ast.JoinedStr: ExpressionLowering.formatted,
        ast.Attribute: ExpressionLowering.attribute,
        ast.Subscript: ExpressionLowering.subscript,
        ast.Slice: ExpressionLowering.slice,
        ast.Call: ExpressionLowering.call,
        ast.BinOp: ExpressionLowering.binary,
        ast.BoolOp: ExpressionLowering.boolean,
        ast.Compare: ExpressionLowering.comparison,
        ast.UnaryOp: ExpressionLowering.unary,
        ast.IfExp: ExpressionLowering.conditional,
        ast.Tuple: ExpressionLowering.tuple_,
        ast.List: ExpressionLowering.list_,
        ast.Set: ExpressionLowering.set_,
        ast.Starred: ExpressionLowering.starred,
        ast.Dict: ExpressionLowering.dict_,
        ast.ListComp: ExpressionLowering.list_comprehension,
        ast.SetComp: ExpressionLowering.set_comprehension,
        ast.GeneratorExp: ExpressionLowering.generator,
        ast.DictComp: ExpressionLowering.dict_comprehension,
        ast.Lambda: ExpressionLowering.lambda_,
        ast.NamedExpr: ExpressionLowering.walrus,
        ast.Yield: ExpressionLowering.yield_,
        ast.YieldFrom: ExpressionLowering.yield_from,
        ast.Await: ExpressionLowering.await_,
    }
)
if hasattr(ast, "TemplateStr"):  # the oldest Python allowed does not have it
    _EXPRESSIONS[ast.TemplateStr] = ExpressionLowering.formatted

OPERATORS: dict[type[ast.operator], str] = {
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
