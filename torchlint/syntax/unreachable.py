"""
Statements that no run comes to, as the text alone shows: behind a `return`, under `if False`; and blocks that leave.

Reads Python's own tree. Knows no values: a flag that is never set counts as one that may be.
"""

from __future__ import annotations

import ast

_ENDS = frozenset({"skip", "skipTest", "exit", "abort", "fail", "xfail"})
"""Calls that do not come back."""


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


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends by leaving what is around it."""
    return does_not_come_back(body[-1]) or isinstance(body[-1], (ast.Return, ast.Continue, ast.Break))


def does_not_come_back(node: ast.stmt) -> bool:
    """Whether a statement raises, or calls what does: `pytest.skip(...)`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        of = node.value.func
        called = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
        return called in _ENDS
    return isinstance(node, ast.Raise)
