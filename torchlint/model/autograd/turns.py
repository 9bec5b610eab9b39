"""
What optimizers do between two backwards and after them, as the text tells: whether the two fill the gradients of one
step; and whether one that a loop repeats asks for something else in each round.

Reads statements alone, for whoever is given an optimizer knows no more. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import libcst as cst

from torchlint.model.state.machine import Machine
from torchlint.syntax import ir
from torchlint.syntax.spelling import bound_by, dotted

Turn: TypeAlias = Literal["one step", "stepped", "cleared", "in turn"]
"""
Two backwards fill the gradients "one step" takes; an optimizer has "stepped" between them; their gradients are
"cleared" between them, and nothing else steps: each is wanted apart; or two optimizers step "in turn", each behind its
own backward, with a `zero_grad` in between.
"""


def turn(machine: Machine, first: cst.CSTNode, second: cst.CSTNode) -> Turn:
    """What stands between two lines of a function, and which optimizers step after the second."""
    lines = _around(machine, first, second)
    if lines is None:
        return "one step"
    written = [each.line for each in lines]
    start, end = written.index(first), written.index(second)
    between, after = lines[start + 1 : end], lines[end + 1 :]
    stepped, cleared = _owners(between, "step"), _owners(between, "zero_grad")
    if not cleared:
        return "stepped" if stepped else "one step"
    if _owners(after, "step") - (stepped or cleared):
        return "in turn"
    return "stepped" if stepped else "cleared"


def _around(machine: Machine, first: cst.CSTNode, second: cst.CSTNode) -> list[ir.Statement] | None:
    """The statements of the innermost block that has both lines, with those of the blocks in it, as written."""
    best: list[ir.Statement] | None = None
    for block in machine.blocks.values():
        lines = list(ir.everything(block))
        written = [each.line for each in lines]
        if first not in written or second not in written or written.index(first) >= written.index(second):
            continue
        if best is None or len(lines) < len(best):
            best = lines
    return best


def _owners(lines: Iterable[ir.Statement], method: str) -> set[str]:
    """What a method is called of in these lines; the statements of a block are lines of their own."""
    simple = [each for each in lines if not ir.blocks(each) and not isinstance(each, (ir.FunctionDef, ir.ClassDef))]
    return {
        dotted(each.function.value)
        for each in ir.walk(simple)
        if isinstance(each, ir.Call) and isinstance(each.function, ir.Attribute) and each.function.attr == method
    }


def is_same_in_each_round(machine: Machine, line: cst.CSTNode, call: cst.Call) -> bool:
    """Whether a call reads nothing that the innermost loop around its line binds, as where somebody takes its time."""
    loops = [each for each in ir.everything(machine.program.body) if isinstance(each, (ir.For, ir.While))]
    around = [each for each in loops if any(inner.line is line for inner in ir.everything(each.body))]
    found = next((each for each in ir.walk(around[-1].body) if each.origin is call), None) if around else None
    if found is None:
        return False
    bound = {name for each in ir.everything(around[-1].body) for name in _bound(each)} | set(_bound(around[-1]))
    return bound.isdisjoint(each.id for each in ir.walk(found) if isinstance(each, ir.Name))


def _bound(statement: ir.Statement) -> list[str]:
    if isinstance(statement, ir.Assign):
        return [name for target in statement.targets for name in bound_by(target)]
    return bound_by(statement.target) if isinstance(statement, (ir.AugmentedAssign, ir.For)) else []
