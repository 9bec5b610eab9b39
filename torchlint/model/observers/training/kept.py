"""
Sees a model that is kept under a second name as the best one, in a loop that goes on to train it.

By the loops of the running function as they are written: which names they bind, and what in them trains. Does not
judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlint.model.events.trace import Step
from torchlint.model.events.training import ModelKept
from torchlint.model.observers.pending import expression, only
from torchlint.model.python.attributes import is_module
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Instance, Module, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import KEEPS_BEST, near
from torchlint.syntax.for_effect import around
from torchlint.syntax.spelling import dotted

_OF_MODULES = frozenset({"parameters", "state_dict", "load_state_dict", "named_parameters", "eval", "modules"})
_MEASURES = ("loss", "acc", "score", "epoch", "metric", "name", "path", "step", "iter", "state")


class ModelsKept(Observer):
    """Raises `ModelKept`."""

    words = ("best", "Best", "BEST")
    concerns = (near(KEEPS_BEST),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._bodies: list[ir.FunctionDef | None] = []
        self._told: set[int] = set()

    def entry_started(self, function: Function | None) -> None:
        self._bodies = [_definition(function)]

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._bodies.append(_definition(function))

    def function_ended(self, function: Function, result: Value) -> None:
        if len(self._bodies) > 1:
            self._bodies.pop()

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        if "best" in name.lower():
            self._kept(name, value)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if "best" in name.lower():
            self._kept(dotted(node), value)

    def _kept(self, name: str, value: Value) -> None:
        statement = self.machine.statement
        if not isinstance(statement, ir.Assign) or len(statement.targets) != 1 or self.machine.foreign_call is not None:
            return
        model = dotted(statement.value)
        if not name or name != dotted(statement.targets[0]) or not model or "best" in model.lower():
            return
        if name.lower().endswith(_MEASURES) or id(statement) in self._told or not self.machine.is_certain():
            return
        definition = self._bodies[-1] if self._bodies else None
        body = definition.body if definition is not None else self.machine.program.body
        whole = self.machine.program.body if "." in name else body
        if not self._is_model(value, model, name, whole):
            return
        enclosing = around(body, statement)
        training: ir.Node | None = None
        for index in range(len(enclosing) - 1, -1, -1):
            loop = enclosing[index]
            if isinstance(loop, (ir.FunctionDef, ir.ClassDef)):
                break
            if not isinstance(loop, (ir.For, ir.While)):
                continue
            if _is_bound(loop, model):
                break
            training = training or next((each for each in _nodes(loop.body) if _trains(each, model)), None)
            if training is not None and not _leaves(loop, enclosing[index + 1 :], statement):
                self._tell(statement, name, model, training, loop, whole)
                return

    def _is_model(self, value: Value, model: str, name: str, body: list[ir.Statement]) -> bool:
        value = only(value, self.machine) or value
        if isinstance(value, Module):
            return True
        if isinstance(value, Instance):
            return is_module(value) is Truth.YES
        if not isinstance(value, Unknown):
            return False
        return any(
            isinstance(each, ir.Attribute) and each.attr in _OF_MODULES and dotted(each.value) in (model, name)
            for each in _nodes(body)
        )

    def _tell(
        self,
        statement: ir.Assign,
        name: str,
        model: str,
        training: ir.Node,
        loop: ir.For | ir.While,
        body: list[ir.Statement],
    ) -> None:
        value = expression(statement.value) if statement.value is not None else None
        inside = {id(each) for each in _nodes([loop])}
        read = any(
            id(each) not in inside and isinstance(each, (ir.Name, ir.Attribute)) and dotted(each) == name
            for each in _reads(body)
        )
        if value is None or not read:
            return
        self._told.add(id(statement))
        self.machine.emit(
            ModelKept(
                node=value,
                statement=statement.line,
                trace=(Step(training.origin, f"`{model}` is trained here, in the same loop"),),
                name=name,
                model=model,
                value_node=value,
            )
        )


def _definition(function: Function | None) -> ir.FunctionDef | None:
    definition = function.definition if function is not None else None
    return definition if isinstance(definition, ir.FunctionDef) else None


def _nodes(body: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """All nodes below some others, but for the functions and classes defined there."""
    pending: list[object] = [list(body)]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += reversed(node)
        elif isinstance(node, ir.Node):
            yield node
            if not isinstance(node, (ir.FunctionDef, ir.ClassDef)):
                pending += [getattr(node, part) for part in ir.parts(type(node))]


def _reads(body: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The same without what is assigned to or compared, and with what methods and functions hold."""
    pending: list[object] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, ir.FunctionDef):
            pending += node.body
        elif isinstance(node, ir.Assign):
            pending.append(node.value)
        elif isinstance(node, ir.Node) and not isinstance(node, ir.Compare):
            yield node
            pending += [getattr(node, part) for part in ir.parts(type(node))]


def _is_bound(loop: ir.For | ir.While, model: str) -> bool:
    """Whether a round of the loop may have another model under the name."""
    root = model.partition(".")[0]
    targets: list[ir.Node] = [loop.target] if isinstance(loop, ir.For) else []
    for each in _nodes(loop.body):
        if isinstance(each, ir.Assign):
            targets += each.targets
        elif isinstance(each, ir.For):
            targets.append(each.target)
        elif isinstance(each, ir.With):
            targets += [item.target for item in each.items if item.target is not None]
        elif isinstance(each, ir.Assigned):
            targets.append(each.target)
    stores = {dotted(target) for target in targets if isinstance(target, (ir.Name, ir.Attribute))}
    tuples = {dotted(part) for target in targets if isinstance(target, ir.Sequence) for part in target.elements}
    return not {model, root}.isdisjoint(stores | tuples)


def _trains(node: ir.Node, model: str) -> bool:
    """Whether a call is one that trains: a backward, an optimizer's step, or a function that says so of the model."""
    if not isinstance(node, ir.Call):
        return False
    last = dotted(node.function).rpartition(".")[2] or (
        node.function.attr if isinstance(node.function, ir.Attribute) else ""
    )
    owner = dotted(node.function).rpartition(".")[0]
    if last == "backward":
        return True
    if last == "step":
        return "opt" in owner.rpartition(".")[2].lower()
    if "train" not in last.lower() or (
        last == "train" and owner in (model, model.partition(".")[0]) and owner != "self"
    ):
        return False
    given = {dotted(each.value) for each in node.arguments}
    return model in given or (bool(owner) and model.startswith(f"{owner}."))


def _leaves(loop: ir.Node, enclosing: list[ir.Node], statement: ir.Statement) -> bool:
    """Whether the loop is left right after the statement: by what follows it in its block, or in those around it."""
    inner: ir.Node = statement
    for outer in (*reversed(enclosing), loop):
        for block in ("body", "orelse", "final"):
            statements = getattr(outer, block, None)
            if isinstance(statements, list) and any(each is inner for each in statements):
                place = next(index for index, each in enumerate(statements) if each is inner)
                if any(isinstance(each, (ir.Break, ir.Return, ir.Raise)) for each in statements[place + 1 :]):
                    return True
        inner = outer
    return False
