"""What stands in a node, in a block, in a program: it is gone over without recursion, for it may be deep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

from torchlint.syntax.ir.expressions import Node
from torchlint.syntax.ir.statements import (
    Assign,
    ClassDef,
    ExpressionStatement,
    For,
    FunctionDef,
    If,
    Match,
    Return,
    Statement,
    Try,
    While,
    With,
)
from torchlint.syntax.node_fields import parts


def walk(node: Node | list[Statement]) -> list[Node]:
    """A node, or the statements of a block, and everything below: parents first, fields in their order."""
    pending: list[Any] = [node]
    found: list[Node] = []
    reading = _reading
    while pending:  # of very many: what a look takes is what its calls take
        each = pending.pop()
        kind = type(each)
        if kind in reading:
            found.append(each)
            if (read := reading[kind]) is not None:
                held = read(each)
                pending += held if type(held) is tuple else (held,)
        elif kind is list:
            pending += each[::-1]
        elif each is not None and isinstance(each, Node):
            reading[kind] = attrgetter(*names) if (names := parts(kind)) else None
            pending.append(each)
    return found


def blocks(statement: Statement) -> list[list[Statement]]:
    """The blocks of a compound statement, less those of functions and classes."""
    kind = type(statement)
    if kind is Assign or kind is ExpressionStatement or kind is Return:
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
