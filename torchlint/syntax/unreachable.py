"""
Statements that no run comes to, as the text alone shows: behind a `return`, under `if False`.

Reads Python's own tree. Knows no values: a flag that is never set counts as one that may be.
"""

from __future__ import annotations

import ast


def truth(test: ast.expr) -> bool | None:
    """What a test always is; None if that depends on something."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        of = truth(test.operand)
        return None if of is None else not of
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)
        parts = [truth(each) for each in test.values]
        if decides in parts:
            return decides
        return None if None in parts else not decides
    return None


def arms(node: ast.If) -> list[list[ast.stmt]]:
    """The arms of a branch that a run may come to."""
    always = truth(node.test)
    return [body for body, taken in ((node.body, True), (node.orelse, False)) if always is None or always is taken]


def ends(node: ast.stmt) -> bool:
    """Whether nothing behind a statement of the same block is ever run."""
    if isinstance(node, ast.If):
        left = arms(node)
        return all(any(map(ends, body)) for body in left)
    return isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break))
