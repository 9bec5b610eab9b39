"""
Which class of libcst nodes stands at a node of Python's tree: what a place passes for (`place`).

Knows no IR, but for the names of its classes.
"""

from __future__ import annotations

import ast
from typing import cast

from torchlint.syntax import cst
from torchlint.syntax.place import Place, place_kind

_LINE = place_kind("SimpleStatementLine")
_SUITE = place_kind("SimpleStatementSuite")
_EXPRESSION = place_kind("BaseExpression")
_STRING = place_kind("BaseString")
_NAME = place_kind("Name")
_SUBSCRIPT = place_kind("Subscript")
_CONSTANTS: dict[type, type[Place]] = {
    int: place_kind("Integer"),
    float: place_kind("Float"),
    complex: place_kind("Imaginary"),
    bool: _NAME,
    type(None): _NAME,
    type(...): place_kind("Ellipsis"),
    # one literal or several in a row: only the text knows
    str: _STRING,
    bytes: _STRING,
}
_STATEMENTS: dict[type[ast.AST], type[Place]] = {
    getattr(ast, name): place_kind(cst_name or name)
    for name, cst_name in {
        "Assign": "", "AnnAssign": "", "AugAssign": "", "Expr": "", "Return": "", "Raise": "", "Assert": "",
        "Delete": "Del", "Pass": "", "Break": "", "Continue": "", "Global": "", "Nonlocal": "", "Import": "",
        "ImportFrom": "", "If": "", "For": "", "AsyncFor": "For", "While": "", "With": "", "AsyncWith": "With",
        "Try": "", "TryStar": "", "Match": "", "FunctionDef": "", "AsyncFunctionDef": "FunctionDef", "ClassDef": "",
        "TypeAlias": "",
    }.items()
    if hasattr(ast, name)
}  # fmt: skip
_OF_PARTS: dict[str, tuple[type[Place], str]] = {
    "Argument": (place_kind("Arg"), "argument"),
    "Parameter": (place_kind("Param"), "parameter"),
    "Generator": (place_kind("CompFor"), "comprehension"),
    "WithItem": (place_kind("WithItem"), "item"),
    "ImportName": (place_kind("ImportAlias"), "alias"),
    "Handler": (place_kind("ExceptHandler"), "handler"),
    "Case": (place_kind("MatchCase"), "case"),
    "Slice": (place_kind("Slice"), "slice"),
    "Program": (place_kind("Module"), "module"),
}
"""What has another place than its node in Python's tree, or none there."""
_EXPRESSIONS: dict[type[ast.AST], type[Place]] = {
    getattr(ast, name): place_kind(cst_name or name)
    for name, cst_name in {
        "Name": "", "Attribute": "", "Subscript": "", "Call": "", "BinOp": "BinaryOperation", "Tuple": "", "List": "",
        "BoolOp": "BooleanOperation", "UnaryOp": "UnaryOperation", "Compare": "Comparison", "IfExp": "", "Set": "",
        "Starred": "StarredElement", "Dict": "", "ListComp": "", "SetComp": "", "GeneratorExp": "", "DictComp": "",
        "Lambda": "", "NamedExpr": "", "Yield": "", "YieldFrom": "Yield", "Await": "",
    }.items()
}  # fmt: skip


def place_at(at: ast.AST, kind: str) -> Place:
    """
    The place of a node of the IR.

    Parameters
    ----------
    at
        The node of Python's tree that it was made from.
    kind
        The name of its class.
    """
    known = _OF_PARTS.get(kind)
    if known is not None:
        return known[0](at, known[1])
    if isinstance(at, ast.stmt):
        return _STATEMENTS[type(at)](at, "statement")
    if isinstance(at, ast.Constant):
        return _CONSTANTS[type(at.value)](at, "expression")
    return _EXPRESSIONS.get(type(at), _STRING)(at, "expression")


_INDEX = place_kind("Index")


def name_of(definition: ast.AST | Place) -> cst.Name:
    """The place of the name that a function or class definition gives."""
    return cast("cst.Name", _NAME(definition if isinstance(definition, ast.AST) else definition.at, "name"))


def line_at(first: ast.AST) -> Place:
    """The place of a line of one statement."""
    return _LINE(first, "line")


def suite(first: ast.stmt) -> Place:
    """The place of a block that stands behind its colon, which all its statements share."""
    return _SUITE(first, "line")


def shared_line(first: ast.stmt) -> Place:
    """The place of a line of several statements, which they share."""
    return _LINE(first, "line")


def starred_index(node: ast.Starred) -> Place:
    """The place of `*i` in `x[*i]`."""
    return _INDEX(node, "index")


def shared_subscript(node: ast.Subscript) -> Place:
    """The place of a subscript that its bare tuple of indices shares."""
    return _SUBSCRIPT(node, "expression")
