"""
From libcst expressions to the IR's; `lower` adds the statements.

Dispatches by the exact class of a node over the fields that carry meaning. What nests to the left or hangs in a row
(`a + b + …`, `a.b().c()`, `"a" "b" …`) is walked in a loop, so that its length is not bound by Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

import libcst as cst

from torchlint.syntax import ir, literals
from torchlint.syntax.scopes import ScopedLowering

_Lowered = TypeVar("_Lowered")


class LoweringError(Exception):
    """
    The tree is beyond what can be lowered: too deep, or a syntax newer than this module.

    Attributes
    ----------
    message
        One line, lower case.
    node
        The CST node, or the top-level statement around it.
    """

    def __init__(self, message: str, node: cst.CSTNode) -> None:
        super().__init__(message)
        self.message = message
        self.node = node


class ExpressionLowering(ScopedLowering):
    """One expression after the other."""

    __slots__ = ()

    def expression(self, node: cst.CSTNode) -> ir.Expression:
        return EXPRESSIONS[type(node)](self, node)

    def optional(self, node: cst.CSTNode | None) -> ir.Expression | None:
        return None if node is None else EXPRESSIONS[type(node)](self, node)

    def name(self, node: cst.Name) -> ir.Expression:
        value = node.value
        if value in _NAMED:
            return ir.Constant(node, _NAMED[value])
        return ir.Name(node, value)

    def integer(self, node: cst.Integer) -> ir.Expression:
        return ir.Constant(node, _literal(literals.integer, node))

    def float_(self, node: cst.Float) -> ir.Expression:
        return ir.Constant(node, float(node.value))

    def imaginary(self, node: cst.Imaginary) -> ir.Expression:
        return ir.Constant(node, complex(node.value))

    def ellipsis(self, node: cst.Ellipsis) -> ir.Expression:
        return ir.Constant(node, ...)

    def string(self, node: cst.SimpleString) -> ir.Expression:
        return ir.Constant(node, _literal(literals.string, node))

    def formatted(self, node: cst.FormattedString | cst.TemplatedString) -> ir.Expression:
        parts: list[ir.Expression] = []
        self.placeholders(node.parts, parts)
        return ir.FormattedString(node, parts)

    def placeholders(self, pieces: Iterable[cst.CSTNode], into: list[ir.Expression]) -> None:
        for piece in pieces:
            expression = getattr(piece, "expression", None)
            if expression is not None:
                into.append(self.expression(expression))
                self.placeholders(getattr(piece, "format_spec", None) or (), into)

    def concatenated(self, node: cst.ConcatenatedString) -> ir.Expression:
        values: list[Any] = []
        parts: list[ir.Expression] = []
        plain = True
        pieces: list[cst.CSTNode] = [node]
        while pieces:
            piece = pieces.pop()
            if isinstance(piece, cst.ConcatenatedString):
                pieces += (piece.right, piece.left)
            elif isinstance(piece, cst.SimpleString):
                values.append(_literal(literals.string, piece))
            else:
                plain = False
                self.placeholders(getattr(piece, "parts", ()), parts)
        if plain:
            return ir.Constant(node, values[0][:0].join(values))
        return ir.FormattedString(node, parts)

    def chain(self, node: cst.CSTNode) -> ir.Expression:
        """What nests to the left: down its spine, then up again."""
        spine = []
        kind = type(node)
        while kind in _LEFT:
            spine.append(node)
            node = _LEFT[kind](node)
            kind = type(node)
        value = EXPRESSIONS[kind](self, node)
        while spine:
            node = spine.pop()
            value = _LINKS[type(node)](self, node, value)
        return value

    def attribute(self, node: cst.Attribute, value: ir.Expression) -> ir.Expression:
        return ir.Attribute(node, value, node.attr.value)

    def subscript(self, node: cst.Subscript, value: ir.Expression) -> ir.Expression:
        elements = [self.index(element.slice) for element in node.slice]
        if len(elements) == 1 and not isinstance(node.slice[0].comma, cst.Comma):
            only = elements[0]
            if not isinstance(only, ir.Starred):
                return ir.Subscript(node, value, only)
        return ir.Subscript(node, value, ir.Sequence(node, "tuple", elements))

    def index(self, node: cst.BaseSlice) -> ir.Expression:
        if isinstance(node, cst.Index):
            value = self.expression(node.value)
            return value if node.star is None else ir.Starred(node, value)
        if isinstance(node, cst.Slice):
            return ir.Slice(node, self.optional(node.lower), self.optional(node.upper), self.optional(node.step))
        raise LoweringError(f"the syntax {type(node).__name__} is not known here", node)

    def call(self, node: cst.Call, function: ir.Expression) -> ir.Expression:
        return ir.Call(node, function, self.arguments(node.args))

    def arguments(self, nodes: Iterable[cst.Arg]) -> list[ir.Argument]:
        arguments = []
        for node in nodes:
            value = node.value
            keyword = node.keyword
            arguments.append(
                ir.Argument(
                    node, EXPRESSIONS[type(value)](self, value), "" if keyword is None else keyword.value, node.star
                )
            )
        return arguments

    def binary(self, node: cst.BinaryOperation, left: ir.Expression) -> ir.Expression:
        return ir.Binary(node, OPERATORS[type(node.operator)], left, self.expression(node.right))

    def boolean(self, node: cst.BooleanOperation, left: ir.Expression) -> ir.Expression:
        op = OPERATORS[type(node.operator)]
        right = self.expression(node.right)
        if isinstance(left, ir.Boolean) and left.op == op and not node.left.lpar:
            left.cst_node = node
            left.operands.append(right)
            return left
        return ir.Boolean(node, op, [left, right])

    def comparison(self, node: cst.Comparison, left: ir.Expression) -> ir.Expression:
        links = node.comparisons
        ops = [OPERATORS[type(link.operator)] for link in links]
        return ir.Compare(node, left, ops, [self.expression(link.comparator) for link in links])

    def unary(self, node: cst.UnaryOperation) -> ir.Expression:
        return ir.Unary(node, OPERATORS[type(node.operator)], self.expression(node.expression))

    def conditional(self, node: cst.IfExp) -> ir.Expression:
        test, body = self.expression(node.test), self.expression(node.body)
        return ir.Conditional(node, test, body, self.expression(node.orelse))

    def tuple_(self, node: cst.Tuple) -> ir.Expression:
        return ir.Sequence(node, "tuple", self.elements(node.elements))

    def list_(self, node: cst.List) -> ir.Expression:
        return ir.Sequence(node, "list", self.elements(node.elements))

    def set_(self, node: cst.Set) -> ir.Expression:
        return ir.Sequence(node, "set", self.elements(node.elements))

    def elements(self, nodes: Iterable[cst.BaseElement]) -> list[ir.Expression]:
        return [
            self.expression(node.value) if type(node) is cst.Element else self.starred(node)  # type: ignore[arg-type]
            for node in nodes
        ]

    def starred(self, node: cst.StarredElement) -> ir.Expression:
        return ir.Starred(node, self.expression(node.value))

    def dict_(self, node: cst.Dict) -> ir.Expression:
        keys: list[ir.Expression | None] = []
        values = []
        for element in node.elements:
            keys.append(self.expression(element.key) if isinstance(element, cst.DictElement) else None)
            values.append(self.expression(element.value))
        return ir.Dict(node, keys, values)

    def list_comprehension(self, node: cst.ListComp) -> ir.Expression:
        return ir.Comprehension(node, "list", self.expression(node.elt), self.generators(node.for_in))

    def set_comprehension(self, node: cst.SetComp) -> ir.Expression:
        return ir.Comprehension(node, "set", self.expression(node.elt), self.generators(node.for_in))

    def generator(self, node: cst.GeneratorExp) -> ir.Expression:
        return ir.Comprehension(node, "generator", self.expression(node.elt), self.generators(node.for_in))

    def dict_comprehension(self, node: cst.DictComp) -> ir.Expression:
        # `{**mapping for …}` has no key, and is a class of its own that libcst 1.8 lacks.
        key = self.optional(getattr(node, "key", None))
        return ir.Comprehension(node, "dict", self.expression(node.value), self.generators(node.for_in), key)

    def generators(self, node: cst.CompFor | None) -> list[ir.Generator]:
        generators = []
        while node is not None:
            tests = [self.expression(condition.test) for condition in node.ifs]
            generators.append(ir.Generator(node, self.expression(node.target), self.expression(node.iter), tests))
            node = node.inner_for_in
        return generators

    def lambda_(self, node: cst.Lambda) -> ir.Expression:
        parameters = self.parameters(node.params)
        with self.scope():
            return ir.Lambda(node, parameters, self.expression(node.body))

    def walrus(self, node: cst.NamedExpr) -> ir.Expression:
        target = self.target(node.target)
        if not isinstance(target, ir.Name):
            raise LoweringError("`:=` binds a plain name only", node)
        return ir.Assigned(node, target, self.expression(node.value))

    def yield_(self, node: cst.Yield) -> ir.Expression:
        self.yields = True
        if isinstance(node.value, cst.From):
            return ir.Yield(node, self.expression(node.value.item), True)
        return ir.Yield(node, self.optional(node.value))

    def await_(self, node: cst.Await) -> ir.Expression:
        return ir.Await(node, self.expression(node.expression))

    def parameters(self, node: cst.Parameters) -> list[ir.Parameter]:
        parameters = [self.parameter(one, "positional-only") for one in node.posonly_params]
        parameters += [self.parameter(one, "positional") for one in node.params]
        if isinstance(node.star_arg, cst.Param):
            parameters.append(self.parameter(node.star_arg, "*"))
        parameters += [self.parameter(one, "keyword-only") for one in node.kwonly_params]
        if node.star_kwarg is not None:
            parameters.append(self.parameter(node.star_kwarg, "**"))
        return parameters

    def parameter(self, node: cst.Param, kind: str) -> ir.Parameter:
        return ir.Parameter(node, node.name.value, kind, self.optional(node.default), self.annotation(node.annotation))

    def annotation(self, node: cst.Annotation | None) -> ir.Expression | None:
        return None if node is None else self.expression(node.annotation)

    def target(self, node: cst.CSTNode) -> ir.Expression:
        """A target of an assignment, a loop, `with`, `del`: an expression whose names get bound here."""
        target = self.expression(node)
        self.bind(target)
        return target


def _literal(evaluate: Callable[[str], object], node: cst.Integer | cst.SimpleString) -> object:
    try:
        return evaluate(node.value)
    except ValueError as error:
        raise LoweringError(f"a literal without a value: {error}", node) from error


class Dispatch(dict[type[cst.CSTNode], Callable[..., _Lowered]], Generic[_Lowered]):
    """From a node's class to its method; a class that is missing is a syntax this module does not know yet."""

    def __missing__(self, kind: type[cst.CSTNode]) -> Callable[..., _Lowered]:
        def unknown(lowering: object, node: cst.CSTNode, *rest: object) -> NoReturn:
            raise LoweringError(f"the syntax {kind.__name__} is not known here", node)

        return unknown


_NAMED = {"True": True, "False": False, "None": None}

_Link: TypeAlias = "Callable[..., ir.Expression]"

_LEFT: dict[type[cst.CSTNode], Callable[[cst.CSTNode], cst.CSTNode]] = {
    cst.Attribute: attrgetter("value"),
    cst.Subscript: attrgetter("value"),
    cst.Call: attrgetter("func"),
    cst.BinaryOperation: attrgetter("left"),
    cst.BooleanOperation: attrgetter("left"),
    cst.Comparison: attrgetter("left"),
}
_LINKS: dict[type[cst.CSTNode], _Link] = {
    cst.Attribute: ExpressionLowering.attribute,
    cst.Subscript: ExpressionLowering.subscript,
    cst.Call: ExpressionLowering.call,
    cst.BinaryOperation: ExpressionLowering.binary,
    cst.BooleanOperation: ExpressionLowering.boolean,
    cst.Comparison: ExpressionLowering.comparison,
}
EXPRESSIONS: Dispatch[ir.Expression] = Dispatch(
    {
        cst.Attribute: ExpressionLowering.chain,
        cst.Subscript: ExpressionLowering.chain,
        cst.Call: ExpressionLowering.chain,
        cst.BinaryOperation: ExpressionLowering.chain,
        cst.BooleanOperation: ExpressionLowering.chain,
        cst.Comparison: ExpressionLowering.chain,
        cst.Name: ExpressionLowering.name,
        cst.Integer: ExpressionLowering.integer,
        cst.Float: ExpressionLowering.float_,
        cst.Imaginary: ExpressionLowering.imaginary,
        cst.Ellipsis: ExpressionLowering.ellipsis,
        cst.SimpleString: ExpressionLowering.string,
        cst.FormattedString: ExpressionLowering.formatted,
        cst.ConcatenatedString: ExpressionLowering.concatenated,
        cst.UnaryOperation: ExpressionLowering.unary,
        cst.IfExp: ExpressionLowering.conditional,
        cst.Tuple: ExpressionLowering.tuple_,
        cst.List: ExpressionLowering.list_,
        cst.Set: ExpressionLowering.set_,
        cst.StarredElement: ExpressionLowering.starred,
        cst.Dict: ExpressionLowering.dict_,
        cst.ListComp: ExpressionLowering.list_comprehension,
        cst.SetComp: ExpressionLowering.set_comprehension,
        cst.GeneratorExp: ExpressionLowering.generator,
        cst.DictComp: ExpressionLowering.dict_comprehension,
        cst.Lambda: ExpressionLowering.lambda_,
        cst.NamedExpr: ExpressionLowering.walrus,
        cst.Yield: ExpressionLowering.yield_,
        cst.Await: ExpressionLowering.await_,
    }
)
# Classes that the oldest libcst allowed does not have.
for _newer, _method in (
    ("TemplatedString", ExpressionLowering.formatted),
    ("StarredDictComp", ExpressionLowering.dict_comprehension),
):
    if hasattr(cst, _newer):
        EXPRESSIONS[getattr(cst, _newer)] = _method

OPERATORS: dict[type[cst.CSTNode], str] = {
    **dict.fromkeys((cst.Add, cst.AddAssign, cst.Plus), "+"),
    **dict.fromkeys((cst.Subtract, cst.SubtractAssign, cst.Minus), "-"),
    **dict.fromkeys((cst.Multiply, cst.MultiplyAssign), "*"),
    **dict.fromkeys((cst.Divide, cst.DivideAssign), "/"),
    **dict.fromkeys((cst.FloorDivide, cst.FloorDivideAssign), "//"),
    **dict.fromkeys((cst.Modulo, cst.ModuloAssign), "%"),
    **dict.fromkeys((cst.Power, cst.PowerAssign), "**"),
    **dict.fromkeys((cst.MatrixMultiply, cst.MatrixMultiplyAssign), "@"),
    **dict.fromkeys((cst.LeftShift, cst.LeftShiftAssign), "<<"),
    **dict.fromkeys((cst.RightShift, cst.RightShiftAssign), ">>"),
    **dict.fromkeys((cst.BitAnd, cst.BitAndAssign), "&"),
    **dict.fromkeys((cst.BitOr, cst.BitOrAssign), "|"),
    **dict.fromkeys((cst.BitXor, cst.BitXorAssign), "^"),
    cst.BitInvert: "~",
    cst.Not: "not",
    cst.And: "and",
    cst.Or: "or",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}
