"""
Tensors that a list or a dictionary keeps, and that are written in place afterwards.

`states.append(h)` keeps the tensor and not its numbers; `h += y` changes what is kept. It is meant to be a copy where
the list gets the same tensor again after the write: then all its elements are one. No observer itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from torchlint.model.events.trace import Step
from torchlint.model.events.writes import OldValueRead
from torchlint.model.observers.pending import PendingEvents, expression, only
from torchlint.model.observers.writes.spellings import is_unseen
from torchlint.model.observers.written import parent_of
from torchlint.model.state.guards import Guard, Truth, conjoin
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Frame, Mapping, Sequence, Tensor, Unknown, Value, Write, reachable_tensors
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted

_TAKES: Final = frozenset({"clear", "pop", "popleft", "remove"})
_HANDLES = frozenset({"append", "extend", "insert", "clear", "pop", "popleft", "remove", "update", "setdefault"})
_MOST_ITEMS = 50
"""Elements of a container that is looked through whenever one is put into it."""


@dataclass(slots=True, eq=False)
class _Element:
    """A tensor that a container in a variable was given."""

    container: Value
    name: str
    key: object | None
    tensor: Tensor
    given: ir.Expression
    statement: ir.Statement
    frame: Frame
    time: int
    guard: Guard
    picked: Value | None = None
    """What its key stands for, where that is a variable."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """What is told once the container is read."""

    element: _Element
    write: Write
    how: Literal["element", "repeated"]
    need: Guard
    """What it rests on beside the path on which it was seen."""
    layer: cst.Call | None = None


class KeptTensors:
    """
    What the containers in a function's variables keep.

    Parameters
    ----------
    machine
        The running machine.
    pending
        Where events wait for the end of the run.
    """

    def __init__(self, machine: Machine, pending: PendingEvents) -> None:
        self.machine = machine
        self.pending = pending
        self.elements: dict[int, list[_Element]] = {}
        """By the memory that is kept."""
        self.waiting: list[_Waiting] = []

    def forget(self) -> None:
        """An entry point is over."""
        self.elements.clear()
        self.waiting.clear()

    # -- what is kept

    def ran(self, statement: ir.Statement) -> None:
        """A statement has run: it may have put a tensor into a container."""
        if type(statement) is ir.ExpressionStatement:
            call = statement.value
            method = call.function if isinstance(call, ir.Call) else None
            if not isinstance(call, ir.Call) or not isinstance(method, ir.Attribute):
                return
            plain = len(call.arguments) == 1 and not call.arguments[0].star and not call.arguments[0].keyword
            if method.attr == "append" and plain:
                self._keep(method.value, ..., call.arguments[0].value, statement)
            elif method.attr in _TAKES and self.elements and isinstance(method.value, ir.Name):
                self._taken_from(self._value(self.machine.frame.variables.get(method.value.id)))
        elif type(statement) is ir.Assign and statement.value is not None:
            target = statement.targets[0]
            if type(target) is ir.Subscript and len(statement.targets) == 1:
                key = target.index.value if isinstance(target.index, ir.Constant) else ...
                self._keep(target.value, key, statement.value, statement, _picked(self.machine, target))

    def bound(self, name: str, value: Value, node: ir.Node) -> None:
        """A name is bound; to a list or a dictionary that is written out, perhaps."""
        if not isinstance(node, ir.Assign) or not isinstance(node.value, (ir.Sequence, ir.Dict)):
            return
        if not isinstance(node.targets[0], ir.Name) or _is_long(value):
            return
        shown = node.value
        given = shown.elements if isinstance(shown, ir.Sequence) else shown.values
        keys = shown.keys if isinstance(shown, ir.Dict) else [None] * len(given)
        for key, each in zip(keys, given, strict=True):
            self._keep(node.targets[0], key.value if isinstance(key, ir.Constant) else ..., each, node)

    def _taken_from(self, container: Value | None) -> None:
        """Something is removed from a container: what it holds is not known any more."""
        self.waiting = [each for each in self.waiting if each.element.container is not container]
        for known in self.elements.values():
            known[:] = [each for each in known if each.container is not container]

    def _keep(
        self,
        place: ir.Expression,
        key: object,
        given: ir.Expression,
        statement: ir.Statement,
        picked: Value | None = None,
    ) -> None:
        machine = self.machine
        if not isinstance(place, ir.Name) or not isinstance(given, (ir.Name, ir.Attribute)):
            return
        frame = machine.frame
        container = self._value(frame.variables.get(place.id))
        if not isinstance(container, (Sequence, Mapping)) or machine.foreign_call is not None or _is_long(container):
            return
        tensor = self._tensor(given)
        if tensor is None or not any(tensor is each for each in reachable_tensors(container)):
            return
        held: list[Value] | None = None
        if container.items is not None:
            held = [*container.items.values()] if isinstance(container, Mapping) else [*container.items]
        twice = held is None or sum(self._held(each) is tensor for each in held) > 1
        known = self.elements.setdefault(id(tensor.storage), [])
        new = _Element(container, place.id, key, tensor, given, statement, frame, machine.clock, machine.guard, picked)
        for element in known if twice else ():
            if element.container is not container or element.tensor is not tensor:
                continue
            if (key is not ... and key == element.key) or (picked is not None and picked == element.picked):
                continue  # it takes the place of what was there
            write = next((each for each in tensor.storage.writes if each.time > element.time), None)
            if write is None or is_unseen(write):
                continue
            guards = (element.guard, write.path, write.assumed, machine.guard)
            if conjoin(*guards) is not None:
                need = element.guard | write.path | write.assumed | machine.assumed
                self.waiting.append(_Waiting(new, write, "repeated", need - machine.path))
                break
        known.append(new)
        machine.tick()

    def _value(self, value: Value | None) -> Value | None:
        return only(value, self.machine) if value is not None else None

    def _held(self, value: Value) -> Value:
        return value.tensor if isinstance(value, Unknown) and value.tensor is not None else value

    def _tensor(self, given: ir.Expression) -> Tensor | None:
        """The tensor that a name, or an attribute of an object in a variable, stands for."""
        variables = self.machine.frame.variables
        value: Value | None = None
        if isinstance(given, ir.Name):
            value = self._value(variables.get(given.id))
        elif isinstance(given, ir.Attribute) and isinstance(given.value, ir.Name):
            owner = self._value(variables.get(given.value.id))
            held = getattr(owner, "attributes", None) or getattr(owner, "parameters", None)
            value = self._value(held.get(given.attr)) if isinstance(held, dict) else None
        if isinstance(value, Unknown):
            value = value.tensor
        return value if isinstance(value, Tensor) else None

    # -- what writes it

    def wrote(self, tensor: Tensor, write: Write) -> None:
        """A tensor is written in place; by a layer, or by a function that is told to, nobody sees it."""
        if not is_unseen(write) or id(tensor.storage) not in self.elements:
            return
        statement = self.machine.statement
        if isinstance(statement, ir.ExpressionStatement) and statement.value is write.origin:
            return
        for element in self.elements[id(tensor.storage)]:
            if element.tensor is not tensor or element.statement is statement:
                continue
            if conjoin(element.guard, write.path, write.assumed) is not None:
                need = (element.guard | write.assumed) - write.path
                self.waiting.append(_Waiting(element, write, "element", need))

    def made_by(self, origin: ir.Node, layer: cst.Call | None) -> None:
        """A layer was called that works in place."""
        for each in self.waiting:
            if each.write.origin is origin and each.layer is None:
                each.layer = layer

    # -- who reads it

    def read(self, name: str, value: Value, origin: ir.Node) -> None:
        """A variable is read."""
        frame = self.machine.frame
        for each in list(self.waiting):
            element = each.element
            if element.name != name or element.frame is not frame or only(value, self.machine) is not element.container:
                continue
            use = self._use(each, origin)
            if use == "gone":
                self.waiting.remove(each)
            elif use == "read":
                self.waiting.remove(each)
                self._tell(each, origin)

    def met(self, bound: dict[str, Value], origin: ir.Node) -> None:
        """An operation is given one tensor twice: once as what a container keeps since before a write, perhaps."""
        given = [value.tensor if isinstance(value, Unknown) else value for value in bound.values()]
        known = [each for each in given if isinstance(each, Tensor) and id(each.storage) in self.elements]
        tensor = next((each for place, each in enumerate(known) if any(each is other for other in known[:place])), None)
        if tensor is None or self.machine.statement is None:
            return
        written = _operands(origin)
        for place, part in enumerate(written):
            if not isinstance(part, ir.Subscript) or not isinstance(part.value, ir.Name):
                continue
            others = written[:place] + written[place + 1 :]
            if any(isinstance(each, (ir.Name, ir.Attribute)) and self._tensor(each) is tensor for each in others):
                self._met_again(tensor, part.value, part.index)

    def _met_again(self, tensor: Tensor, name: ir.Name, index: ir.Node | None) -> None:
        machine = self.machine
        for element in self.elements[id(tensor.storage)]:
            key = index.value if isinstance(index, ir.Constant) else ...
            if element.name != name.id or element.frame is not machine.frame or element.tensor is not tensor:
                continue
            if element.key is ... or element.key != key:
                continue
            if self._value(machine.frame.variables.get(name.id)) is not element.container:
                continue
            for write in tensor.storage.writes:
                if write.time <= element.time or write.foreign_call is not None:
                    continue
                if conjoin(element.guard, write.path, write.assumed, machine.guard) is not None:
                    need = element.guard | write.path | write.assumed | machine.assumed
                    self._tell(_Waiting(element, write, "element", need - machine.path), name)
                    return

    def _use(self, each: _Waiting, origin: ir.Node) -> Literal["read", "gone", ""]:
        statement = self.machine.statement
        parent = parent_of(statement, origin) if statement is not None else None
        if isinstance(parent, ir.Attribute):
            return "gone" if parent.attr in _TAKES else "" if parent.attr in _HANDLES else "read"
        if isinstance(parent, ir.Subscript):
            if isinstance(statement, (ir.Assign, ir.Delete)) and any(parent is target for target in statement.targets):
                return ""
            index = parent.index
            if each.how == "repeated":
                last = (
                    isinstance(index, ir.Unary) and isinstance(index.operand, ir.Constant) and index.operand.value == 1
                )
                return "" if last else "read"
            if isinstance(index, ir.Constant) and each.element.key not in (..., index.value):
                return ""
            return "read"
        if isinstance(parent, ir.Argument) and statement is not None:
            call = parent_of(statement, parent)
            return "" if isinstance(call, ir.Call) and dotted(call.function) in ("len", "print") else "read"
        if isinstance(parent, (ir.If, ir.Unary, ir.Compare, ir.Boolean)):
            return ""
        return "read"

    def _tell(self, each: _Waiting, origin: ir.Node) -> None:
        machine, element, write = self.machine, each.element, each.write
        kept = expression(element.given)
        if kept is None:
            return
        name = element.name
        key = repr(element.key) if isinstance(element.key, (str, int)) else ""
        read = Step(origin.origin, f"`{name}` is read here")
        wrote = Step(write.origin.origin, f"`{write.op}` overwrites it")
        put = Step(kept, f"`{name}` keeps the tensor itself")
        repeated = each.how == "repeated"
        event = OldValueRead(
            node=kept if repeated else write.origin.origin,
            statement=element.statement.line if repeated else write.line,
            trace=(wrote, read) if repeated else (put, wrote, read),
            op=write.op,
            spelling="inplace" if is_unseen(write) else write.spelling,
            target=machine.facts(element.tensor, dotted(element.given)),
            target_node=kept if repeated else write.target_node,
            target_is_view=Truth.of(element.tensor.base is not None),
            grad_mode=write.grad_mode,
            how=each.how,
            name=f"{name}[{key}]" if key and not repeated else name,
            read=read,
            layer=each.layer,
        )
        self.pending.add(event, each.need)


def _is_long(container: Value) -> bool:
    items = container.items if isinstance(container, (Sequence, Mapping)) else None
    return items is not None and len(items) > _MOST_ITEMS


def _picked(machine: Machine, target: ir.Subscript) -> Value | None:
    """What the variable stands for that an element is chosen by: the same one takes the same place."""
    index = target.index
    return machine.frame.variables.get(index.id) if isinstance(index, ir.Name) else None


def _operands(origin: ir.Node) -> list[ir.Expression]:
    """What is written of an operation as its operands."""
    if isinstance(origin, ir.Binary):
        return [origin.left, origin.right]
    if isinstance(origin, ir.Compare):
        return [origin.left, *origin.rights]
    if isinstance(origin, ir.Call):
        receiver = [origin.function.value] if isinstance(origin.function, ir.Attribute) else []
        return [*receiver, *(each.value for each in origin.arguments)]
    return []
