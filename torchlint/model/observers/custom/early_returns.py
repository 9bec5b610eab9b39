"""
Which `return` statements of a method can follow one of its statements, as the method is written.

No observer of its own; `function_source` asks. Conditions are not compared: a `return` counts where no branch and no
statement that ends the path keeps it away. Does not judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.syntax import cst
from torchlint.syntax.tree import children

_SCOPES = frozenset({"FunctionDef", "ClassDef", "Lambda"})


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A function's body and all below it, but for the functions and classes defined in it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if current is node or type(current).__name__ not in _SCOPES:
            stack += reversed(children(current))


def returns_after(body: cst.BaseSuite, node: cst.CSTNode) -> list[cst.Return]:
    """The `return` statements of a body that a path through a node of it may reach."""
    return _after(body.body, node)[0]


def _after(statements: Sequence[cst.CSTNode], node: cst.CSTNode) -> tuple[list[cst.Return], bool]:
    """What may be returned in a block once a node of it has run, and whether the path may go on behind the block."""
    found: list[cst.Return] = []
    goes_on = False
    for statement in statements:
        if goes_on:
            found += _returns(statement)
            goes_on = not _ends(statement)
        elif any(each is node for each in inside(statement)):
            found, goes_on = _within(statement, node)
            if not goes_on:
                break
    return found, goes_on


def _within(statement: cst.CSTNode, node: cst.CSTNode) -> tuple[list[cst.Return], bool]:
    """The same of a statement that holds the node. What is left of a loop or a `try` may all come later."""
    if isinstance(statement, cst.If):
        arms = (statement.body, statement.orelse)
        arm = next((each for each in arms if each is not None and any(one is node for one in inside(each))), None)
        if isinstance(arm, cst.If):
            return _within(arm, node)
        if isinstance(arm, cst.Else):
            arm = arm.body
        if arm is not None:
            return _after(arm.body, node)
    if isinstance(statement, cst.With):
        return _after(statement.body.body, node)
    return _returns(statement), not _ends(statement)


def _returns(statement: cst.CSTNode) -> list[cst.Return]:
    if type(statement).__name__ in _SCOPES:
        return []
    return [each for each in inside(statement) if isinstance(each, cst.Return)]


def _ends(statement: cst.CSTNode) -> bool:
    """Whether nothing behind a statement runs."""
    if isinstance(statement, (cst.Return, cst.Raise)):
        return True
    if isinstance(statement, cst.If):
        return statement.orelse is not None and _ends(statement.body) and _ends(statement.orelse)
    if isinstance(statement, (cst.With, cst.Else)):
        return _ends(statement.body)
    if isinstance(statement, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine)):
        return any(_ends(each) for each in statement.body)
    return False
