"""Sees tensors that a loop grows by concatenation."""

from __future__ import annotations

import libcst as cst

from torchlint.model.events.work import GrownInLoop
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Tensor, Value
from torchlint.syntax import ir
from torchlint.syntax.features import CONCATENATIONS, GROWS, here
from torchlint.syntax.tree import parsed, walk

_QUALIFIED = frozenset(f"torch.{name}" for name in CONCATENATIONS)
_FEW = 4
_MANY = 50
"""A loop of so few rounds grows nothing."""


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
        places = [i for i, each in enumerate(first.elements) if isinstance(each, ir.Name) and each.id == target.id]
        call = origin.origin
        if len(places) != 1 or not isinstance(call, cst.Call) or _few(loop):
            return
        if not _only_grows(loop, target.id, call, first.elements[places[0]].origin):
            return
        piece = first.elements[1].origin if places == [0] and len(first.elements) == 2 else None
        after = self.machine.after(loop.line)
        self.machine.emit(
            GrownInLoop(
                node=call,
                statement=self.machine.line(),
                truth=Truth.YES if self.machine.assumed <= self.machine.path else Truth.MAYBE,
                name=target.id,
                function=cst.Module([]).code_for_node(parsed(call).func),
                piece=piece if isinstance(piece, cst.BaseExpression) else None,
                rest=tuple(parsed(call).args[1:]),
                initial=self._initial(target.id, loop),
                after=after if isinstance(after, cst.SimpleStatementLine) else None,
                many=_many(loop),
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


def _few(loop: ir.For | ir.While) -> bool:
    """Whether a loop is written to run a few times only."""
    if not isinstance(loop, ir.For):
        return False
    if isinstance(loop.iterable, ir.Sequence):
        return len(loop.iterable.elements) <= _FEW
    if isinstance(loop.iterable, ir.Call) and isinstance(loop.iterable.function, ir.Name):
        arguments = [each.value for each in loop.iterable.arguments]
        if loop.iterable.function.id == "range" and len(arguments) == 1 and isinstance(arguments[0], ir.Constant):
            return isinstance(arguments[0].value, int) and arguments[0].value <= _FEW
    return False


def _many(loop: ir.For | ir.While) -> bool:
    """Whether a loop runs over a loader, or a known number of rounds that counts."""
    if not isinstance(loop, ir.For):
        return False
    for node in ir.walk(loop.iterable):
        name = node.id if isinstance(node, ir.Name) else node.attr if isinstance(node, ir.Attribute) else ""
        if "loader" in name.lower():
            return True
    rounds = loop.iterable.arguments if isinstance(loop.iterable, ir.Call) else ()
    if not isinstance(loop.iterable, ir.Call) or getattr(loop.iterable.function, "id", "") != "range" or not rounds:
        return False
    stop = rounds[min(1, len(rounds) - 1)].value
    return isinstance(stop, ir.Constant) and isinstance(stop.value, int) and stop.value >= _MANY


def _mentions(node: cst.CSTNode, name: str) -> bool:
    return any(isinstance(each, cst.Name) and each.value == name for each in walk(parsed(node)))


def _only_grows(loop: ir.For | ir.While, name: str, call: cst.Call, grown: cst.CSTNode) -> bool:
    """Whether a loop does nothing with the name but grow it: no other use, no other start in each round."""
    line, call, grown = parsed(loop.line), parsed(call), parsed(grown)
    if not isinstance(line, (cst.For, cst.While)):
        return False
    starting: set[int] = set()
    for node in walk(line.body):
        if isinstance(node, cst.If) and _is_start(node, name, call):
            starting.update(id(each) for each in walk(node.test))
            arms = [node.body, node.orelse] if node.orelse is not None else [node.body]
            starting.update(id(each) for arm in arms if id(call) not in _ids(arm) for each in walk(arm))
    for node in walk(line.body):
        if not isinstance(node, cst.Name) or node.value != name or node is grown or id(node) in starting:
            continue
        if not _is_target_of(line.body, node, call):
            return False
    return not (isinstance(line, cst.While) and _mentions(line.test, name))


def _ids(node: cst.CSTNode) -> set[int]:
    return {id(each) for each in walk(node)}


def _is_start(node: cst.If, name: str, call: cst.Call) -> bool:
    """`if out is None: out = x` with the concatenation in the other arm."""
    if node.orelse is None or id(call) in _ids(node.test):
        return False
    inside = [id(call) in _ids(arm) for arm in (node.body, node.orelse)]
    if inside.count(True) != 1:
        return False
    other = node.orelse if inside[0] else node.body
    names = [each for each in walk(other) if isinstance(each, cst.Name) and each.value == name]
    assigned = [
        each
        for each in walk(other)
        if isinstance(each, cst.Assign) and any(target.target in names for target in each.targets)
    ]
    return len(names) <= 1 and len(assigned) == len(names)


def _is_target_of(body: cst.CSTNode, name: cst.Name, call: cst.Call) -> bool:
    """Whether the name is what the concatenation is assigned to, or a keyword or attribute of that spelling."""
    for node in walk(body):
        if isinstance(node, cst.Assign) and node.value is call:
            if any(each.target is name for each in node.targets):
                return True
        elif (isinstance(node, cst.Arg) and node.keyword is name) or (
            isinstance(node, cst.Attribute) and node.attr is name
        ):
            return True
    return False
