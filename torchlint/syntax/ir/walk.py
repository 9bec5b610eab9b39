"""What stands in a node, in a block, in a program: it is gone over without recursion, for it may be deep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

from torchlint.syntax.ir.expressions import Constant, Name, Node
from torchlint.syntax.ir.statements import (
    Assert,
    Assign,
    AugmentedAssign,
    Break,
    ClassDef,
    Continue,
    Delete,
    ExpressionStatement,
    For,
    FunctionDef,
    If,
    Import,
    Match,
    Pass,
    Raise,
    Return,
    Scope,
    Statement,
    Try,
    While,
    With,
)
from torchlint.syntax.node_fields import parts


def walk(node: Node | list[Statement], unread: list[FunctionDef] | None = None) -> list[Node]:
    """
    A node, or the statements of a block, and everything below: parents first, fields in their order. Where `unread` is
    given, functions that nobody has read are put there, and of what stands in them nothing is found.
    """
    pending: list[Any] = [node]
    found: list[Node] = []
    one, several = _one_part, _parts
    while pending:  # of very many: what a look takes is what its calls take
        each = pending.pop()
        kind = type(each)
        if kind is Name or kind is Constant:  # most of what there is, and nothing is below it
            found.append(each)
        elif kind is list:
            pending += each[::-1]
        elif kind in one:
            found.append(each)
            pending.append(one[kind](each))
        elif unread is not None and kind is FunctionDef and each.inside is None:
            found.append(each)
            unread.append(each)
            pending += (each.returns, each.decorators, each.parameters)
        elif kind in several:
            found.append(each)
            pending += several[kind](each)
        elif each is not None and isinstance(each, Node):
            names = parts(kind)
            if len(names) == 1:
                one[kind] = attrgetter(*names)
            else:
                several[kind] = attrgetter(*names) if names else _nothing
            pending.append(each)
    return found


def _nothing(node: Node) -> tuple[Any, ...]:
    return ()


def blocks(statement: Statement) -> list[list[Statement]]:
    """The blocks of a compound statement, less those of functions and classes."""
    if type(statement) in SMALL:
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


def everything(body: list[Statement], concerns: Callable[[FunctionDef], bool] | None = None) -> Iterator[Statement]:
    """
    All statements of a block, those of functions and classes among them, in the order in which they are written; where
    `concerns` is given, less what stands in functions that it denies.
    """
    pending = body[::-1]
    while pending:  # a chain of `elif` is as deep as it is long
        statement = pending.pop()
        yield statement
        if type(statement) in SMALL:  # most of what there is
            continue
        if concerns is not None and type(statement) is FunctionDef and not concerns(statement):
            continue
        inner = [statement.body] if type(statement) is FunctionDef or type(statement) is ClassDef else blocks(statement)
        for block in inner[::-1]:
            pending += block[::-1]


SMALL: Final = frozenset(
    {
        *(Assert, Assign, AugmentedAssign, Break, Continue, Delete, ExpressionStatement),
        *(Import, Pass, Raise, Return, Scope),
    }
)
"""The statements that hold no others."""

_one_part: Final[dict[type[Node], Callable[[Any], Any]]] = {}
"""Of each class of nodes with one part that may hold nodes, what reads it."""

_parts: Final[dict[type[Node], Callable[[Any], tuple[Any, ...]]]] = {}
"""Of each other class of nodes, what reads all parts that may hold nodes in one."""
