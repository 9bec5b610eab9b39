"""
What optimizers do between two backwards and after them, as the text tells: whether the two fill the gradients of one
step; and whether one that a loop repeats asks for something else in each round.

Reads statements alone, for whoever is given an optimizer knows no more. Judges nothing.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torchlint.model.state.machine import Machine
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import bound_by, dotted

Turn: TypeAlias = Literal["one step", "stepped", "cleared", "in turn"]
"""
Two backwards fill the gradients "one step" takes; an optimizer has "stepped" between them; their gradients are
"cleared" between them, and nothing else steps: each is wanted apart; or two optimizers step "in turn", each behind its
own backward, with a `zero_grad` in between.
"""

_METHODS = frozenset({"step", "zero_grad"})
_RESETS = frozenset({"zero_", "fill_"})


class Turns:
    """
    The lines of the blocks that were run, gone through once for all backwards that are asked for: a file may have
    thousands.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._blocks: list[tuple[list[ir.Statement], dict[cst.CSTNode, int]]] | None = None
        self._called: dict[ir.Statement, list[tuple[str, str]]] = {}
        """Of each line that was looked at, which of those methods it calls, and of what."""

    def between(self, first: cst.CSTNode, second: cst.CSTNode) -> Turn:
        """What stands between two lines of a function, and which optimizers step after the second."""
        lines, start, end = self._around(first, second)
        between = lines[start + 1 : end]
        stepped, cleared = self._owners(between, "step"), self._owners(between, "zero_grad")
        if not cleared:
            return "stepped" if stepped else "one step"
        if self._owners(lines[end + 1 :], "step") - (stepped or cleared):
            return "in turn"
        return "stepped" if stepped else "cleared"

    def _owners(self, lines: list[ir.Statement], method: str) -> set[str]:
        """What a method is called of in these lines."""
        found: set[str] = set()
        for line in lines:
            called = self._called.get(line)
            if called is None:
                called = self._called[line] = _called_in(line)
            for name, owner in called:
                if name == method:
                    found.add(owner)
        return found

    def _around(self, first: cst.CSTNode, second: cst.CSTNode) -> tuple[list[ir.Statement], int, int]:
        """
        The statements of the innermost block that has both lines, with those of the blocks in it, as written, and where
        the two are; nothing where there is none.
        """
        if self._blocks is None:
            self._blocks = [_placed(block) for block in self._machine.blocks.values()]
        best: tuple[list[ir.Statement], int, int] | None = None
        for lines, places in self._blocks:
            start, end = places.get(first), places.get(second)
            if start is None or end is None or start >= end:
                continue
            if best is None or len(lines) < len(best[0]):
                best = lines, start, end
        return best or ([], 0, 0)


def _placed(block: list[ir.Statement]) -> tuple[list[ir.Statement], dict[cst.CSTNode, int]]:
    """The statements of a block and of those in it, and the place at which a line is first."""
    lines = list(ir.everything(block))
    places: dict[cst.CSTNode, int] = {}
    for place, each in enumerate(lines):
        places.setdefault(each.line, place)
    return lines, places


def _called_in(line: ir.Statement) -> list[tuple[str, str]]:
    """The methods of optimizers that a line calls, and of what; the statements of a block are lines of their own."""
    if ir.blocks(line) or isinstance(line, (ir.FunctionDef, ir.ClassDef)):
        return []
    return [
        (each.function.attr, dotted(each.function.value))
        for each in ir.walk([line])
        if isinstance(each, ir.Call) and isinstance(each.function, ir.Attribute) and each.function.attr in _METHODS
    ]


def is_same_in_each_round(machine: Machine, line: cst.CSTNode, call: cst.Call) -> bool:
    """Whether a call reads nothing that the innermost loop around its line binds, as where somebody takes its time."""
    loop = _loop_around(machine, line)
    found = next((each for each in ir.walk(loop.body) if each.origin is call), None) if loop is not None else None
    if loop is None or found is None:
        return False
    bound = {name for each in ir.everything(loop.body) for name in _bound(each)} | set(_bound(loop))
    return bound.isdisjoint(each.id for each in ir.walk(found) if isinstance(each, ir.Name))


def clears_in_each_round(machine: Machine, line: cst.CSTNode) -> bool:
    """Whether the innermost loop around a line resets a gradient: that of each round is wanted by itself."""
    loop = _loop_around(machine, line)
    return loop is not None and any(
        isinstance(each, ir.Attribute)
        and (each.attr == "zero_grad" or (each.attr in _RESETS and "grad" in dotted(each.value).split(".")))
        for each in ir.walk(loop.body)
    )


def _loop_around(machine: Machine, line: cst.CSTNode) -> ir.For | ir.While | None:
    loops = [each for each in ir.everything(machine.program.body) if isinstance(each, (ir.For, ir.While))]
    around = [each for each in loops if any(inner.line is line for inner in ir.everything(each.body))]
    return around[-1] if around else None


def _bound(statement: ir.Statement) -> list[str]:
    if isinstance(statement, ir.Assign):
        return [name for target in statement.targets for name in bound_by(target)]
    return bound_by(statement.target) if isinstance(statement, (ir.AugmentedAssign, ir.For)) else []
