"""Sees tensors that a loop grows by concatenation."""

from __future__ import annotations

import ast

from torchlint.model.events.work import GrownInLoop
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Tensor, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import CONCATENATIONS, GROWS, here
from torchlint.syntax.spelling import identifier, runs_few_times
from torchlint.syntax.tree import statements_at, written

_QUALIFIED = frozenset(f"torch.{name}" for name in CONCATENATIONS)


class Growth(Observer):
    """Raises `GrownInLoop`."""

    words = ("cat", "stack")
    concerns = (here(GROWS),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._loops: list[ir.For | ir.While | None] = []
        self._empty: dict[str, cst.CSTNode] = {}

    def loop_started(self, node: ir.For | ir.While) -> None:
        self._loops.append(node)

    def loop_left(self, node: ir.For | ir.While) -> None:
        if self._loops and self._loops[-1] is node:
            self._loops.pop()

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._loops.append(None)

    def function_ended(self, function: Function, result: Value) -> None:
        while self._loops and self._loops.pop() is not None:
            pass

    def concluded(self) -> None:
        self._loops.clear()
        self._empty.clear()

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        empty = isinstance(value, Tensor) and value.shape is not None and 0 in value.shape
        if empty:
            self._empty[name] = self.machine.line()
        elif not (self._loops and self._loops[-1] is not None):
            self._empty.pop(name, None)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        loop = self._loops[-1] if self._loops else None
        statement = self.machine.statement
        if qualified not in _QUALIFIED or loop is None or not isinstance(statement, ir.Assign):
            return
        if statement.value is not origin or len(statement.targets) != 1 or not origin.arguments:
            return
        target, first = statement.targets[0], origin.arguments[0].value
        if not isinstance(target, ir.Name) or not isinstance(first, ir.Sequence):
            return
        places = _places(first, target)
        call = origin.origin
        if len(places) != 1 or not isinstance(call, cst.Call) or runs_few_times(loop):
            return
        if not _only_grows(loop, target.id, origin, first.elements[places[0]]):
            return
        piece = first.elements[1].origin if places == [0] and len(first.elements) == 2 else None
        after = self.machine.after(loop.line)
        self.machine.emit(
            GrownInLoop(
                node=call,
                statement=self.machine.line(),
                name=target.id,
                function=written(origin.function.origin),
                piece=piece if isinstance(piece, cst.BaseExpression) else None,
                rest=tuple(each.origin for each in origin.arguments[1:] if isinstance(each.origin, cst.Arg)),
                initial=self._initial(target.id, loop),
                after=after if isinstance(after, cst.SimpleStatementLine) else None,
                loop=loop.line,
            )
        )

    def _initial(self, name: str, loop: ir.For | ir.While) -> cst.CSTNode | None:
        """The statement that makes it empty, if nothing reads it between there and the loop."""
        line = initial = self._empty.get(name)
        for _ in range(8):
            line = self.machine.after(line) if line is not None else None
            if line is None or line is loop.line:
                return initial if line is not None else None
            if _mentions(line, name):
                return None
        return None


def _places(parts: ir.Sequence, target: ir.Name) -> list[int]:
    """Where among the parts the name itself stands."""
    return [i for i, each in enumerate(parts.elements) if isinstance(each, ir.Name) and each.id == target.id]


def _mentions(line: cst.CSTNode, name: str) -> bool:
    """Whether a statement of the program holds a word, as a name, an attribute or a keyword."""
    words = (getattr(node, part, None) for each in statements_at(line) for node in ast.walk(each) for part in _WORDS)
    return name in words


_WORDS = ("id", "attr", "arg", "name")


def _only_grows(loop: ir.For | ir.While, name: str, call: ir.Call, grown: ir.Expression) -> bool:
    """Whether a loop does nothing with the name but grow it: no other use, no other start in each round."""
    nodes = list(ir.walk(loop.body))
    starting: set[int] = set()
    for node in nodes:
        if isinstance(node, ir.If) and _is_start(node, name, call):
            starting |= _ids(node.test)
            starting.update(*(_ids(arm) for arm in (node.body, node.orelse) if id(call) not in _ids(arm)))
        if _binds(node, name):
            return False
    own = {id(each) for node in nodes if isinstance(node, ir.Assign) and node.value is call for each in node.targets}
    for node in nodes:
        if isinstance(node, ir.Name) and node.id == name and node is not grown and id(node) not in starting | own:
            return False
    return not (isinstance(loop, ir.While) and name in map(identifier, ir.walk(loop.test)))


def _binds(node: ir.Node, name: str) -> bool:
    """Whether a definition, an import or a handler binds a name, or a statement declares it."""
    if isinstance(node, ir.Scope):
        return name in node.names
    if isinstance(node, ir.ImportName):
        return node.bound == name
    return isinstance(node, (ir.FunctionDef, ir.ClassDef, ir.Parameter, ir.Handler)) and node.name == name


def _ids(node: ir.Node | list[ir.Statement]) -> set[int]:
    return {id(each) for each in ir.walk(node)}


def _is_start(node: ir.If, name: str, call: ir.Call) -> bool:
    """`if out is None: out = x` with the concatenation in the other arm."""
    if not node.orelse or id(call) in _ids(node.test):
        return False
    inside = [id(call) in _ids(arm) for arm in (node.body, node.orelse)]
    if inside.count(True) != 1:
        return False
    other = list(ir.walk(node.orelse if inside[0] else node.body))
    names = {id(each) for each in other if isinstance(each, ir.Name) and each.id == name}
    assigned = [
        each for each in other if isinstance(each, ir.Assign) and any(id(target) in names for target in each.targets)
    ]
    return len(names) <= 1 and len(assigned) == len(names)
