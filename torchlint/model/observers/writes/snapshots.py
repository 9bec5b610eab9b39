"""
Snapshots of a Module that are none: names kept for its own parameters, which the training goes on writing.

`Module.state_dict` gives detached tensors that share memory with the parameters, and `named_parameters` the parameters
themselves (torch/nn/modules/module.py); only a copy stays as it is. Whether a name was meant as a copy is seen from
what is done with it: it is loaded back into the very Module, or its name speaks of an earlier state. Does not judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchlint.model.autograd.writes import is_none
from torchlint.model.events.trace import Step
from torchlint.model.events.writes import Copying, SnapshotWritten
from torchlint.model.observers.moments import called_optimizer
from torchlint.model.observers.pending import argument, expression
from torchlint.model.observers.written import parent_of
from torchlint.model.python.module_parts import parameters_of
from torchlint.model.state.guards import Guard, Truth, conjoin
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Instance, Module, Optimizer, Unknown, Value, alternatives
from torchlint.syntax import ir
from torchlint.syntax.features import anywhere
from torchlint.syntax.spelling import dotted

_SOURCES = frozenset({"state_dict", "named_parameters", "parameters"})
_SHALLOW = frozenset({"dict", "OrderedDict", "collections.OrderedDict", "list", "tuple", "copy", "copy.copy"})
_EARLIER = re.compile(
    r"(^|_)(best|old|older|oldest|prev|previous|before|init|initial|orig|original|backup|snapshot)(_|$)"
)
_THROUGH = frozenset({"zip", "enumerate", "list", "sum", "torch.equal", "torch.allclose"})
_CHANGES = frozenset({"update", "pop", "popitem", "clear", "setdefault", "append", "extend"})


@dataclass(slots=True, eq=False)
class _Kept:
    """A name for what a Module holds, and what has happened since."""

    name: str
    value: Value
    module: Value
    source: str
    place: ir.Expression
    earlier: bool
    event: SnapshotWritten
    guard: Guard
    written: tuple[Step, Guard] | None = None
    used: bool = False


class Snapshots(Observer):
    """Watches names kept for the parameters of a Module, and what writes these."""

    words = ("state_dict", "named_parameters", ".parameters(")
    concerns = (anywhere(" ".join(sorted(_SOURCES)), "step load_state_dict"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._start()

    def _start(self) -> None:
        self._sources: dict[int, Value] = {}
        self._trained: dict[int, str] = {}
        self._steps: set[int] = set()
        self._called: list[Value] = []
        self._kept: list[_Kept] = []
        self._told: set[int] = set()

    def concluded(self) -> None:
        self._start()

    # -- what is kept

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name in _SOURCES and isinstance(receiver, (Module, Instance, Unknown)):
            self._sources[id(origin)] = receiver
        elif name == "load_state_dict":
            self._loaded(receiver, positional[0] if positional else keywords.get("state_dict"), origin)
        elif name == "append" and len(origin.arguments) == 1 and isinstance(origin.function, ir.Attribute):
            self._appended(receiver, origin.function.value, origin.arguments[0].value)
        elif name in _CHANGES:
            for kept in self._kept:
                kept.used = kept.used or kept.value is receiver

    def _appended(self, container: Value, place: ir.Expression, given: ir.Expression) -> None:
        """Two states of one Module in one list, and a write between them: both are the later one."""
        call = found[0] if (found := _uncopied(given)) is not None else None
        module = self._sources.get(id(call))
        for kept in self._kept:
            same = kept.value is container and kept.module is module and kept.place is given
            if same and not kept.used:
                self._tell(kept, Step(kept.event.node, f"in the next iteration `{kept.name}` gets the same tensors"))
        if self.machine.iteration:
            self._keep(dotted(place), container, given)

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        if isinstance(node, ir.Assign):
            given = [given for target, given in _pairs(node) if isinstance(target, ir.Name) and target.id == name]
            self._keep(name, value, given[0] if given else None)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        statement = self.machine.statement
        if isinstance(owner, Instance) and isinstance(statement, ir.Assign):
            given = next((given for target, given in _pairs(statement) if target is node), None)
            self._keep(dotted(node), value, given)

    def _keep(self, name: str, value: Value, given: ir.Expression | None) -> None:
        found = _uncopied(given) if given is not None and name else None
        if given is None or found is None or self.machine.foreign_call is not None or self.machine.expected_errors:
            return
        call, copying, place = found
        module, node = self._sources.get(id(call)), expression(place)
        if module is None or node is None or not isinstance(call.function, ir.Attribute):
            return
        source = dotted(call.function.value)
        if not source:
            return
        event = SnapshotWritten(
            node=node, statement=self.machine.line(), kept=name, source=source, how=call.function.attr, copying=copying
        )
        earlier = bool(_EARLIER.search(name.rpartition(".")[2])) or self._is_best()
        self._kept.append(_Kept(name, value, module, source, given, earlier, event, self.machine.guard))

    def _is_best(self) -> bool:
        """Whether the running statement keeps what is better than all before: `if x > best: best, kept = x, …`."""
        statement = self.machine.statement
        for block in self.machine.blocks.values():
            for each in block:
                if isinstance(each, ir.If) and any(one is statement for one in each.body):
                    return _compared(each.test) & _assigned(each.body) != set()
        return False

    # -- what writes it

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        calls = [
            each.function for given in origin.arguments for each in ir.walk(given.value) if isinstance(each, ir.Call)
        ]
        owners = [dotted(each.value) for each in calls if isinstance(each, ir.Attribute) and each.attr in _SOURCES]
        if len(owners) == 1:
            self._trained[id(optimizer)] = owners[0]

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        self._called.append(module)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        self._called.append(callee)
        if isinstance(origin.function, ir.Attribute) and origin.function.attr == "load_state_dict":
            return
        for kept in self._kept:
            kept.used = kept.used or any(kept.value is each for each in arguments)

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        self._steps.add(id(optimizer))
        words = f"`{dotted(origin.function) or 'step'}()` changes them"
        for kept in self._kept:
            if self._trains(optimizer, kept, origin):
                self._write(kept, Step(origin.origin, words))

    def _trains(self, optimizer: Value, kept: _Kept, origin: ir.Call) -> bool:
        """Whether a step of the optimizer certainly goes to the Module."""
        if isinstance(optimizer, Optimizer):
            if isinstance(kept.module, Unknown):
                return self._trained.get(id(optimizer)) == kept.source
            own = {id(each) for each in parameters_of(kept.module)[0]}
            return any(id(each) in own and is_none(each.grad) is not Truth.YES for each in optimizer.parameters)
        name = dotted(origin.function).rpartition(".")[0]
        only = len(self._steps) == 1 and called_optimizer(name)
        return only and any(each is kept.module for each in self._called)

    def _write(self, kept: _Kept, step: Step) -> None:
        guard = self.machine.guard
        if kept.written is None and conjoin(kept.guard, guard) is not None:
            kept.written = (step, guard)

    # -- what it was kept for

    def _loaded(self, receiver: Value, given: Value | None, origin: ir.Call) -> None:
        held = [each for _, each in alternatives(given, self.machine.guard)] if given is not None else []
        place = argument(origin, 0, "state_dict")
        for kept in self._kept:
            if kept.module is not receiver:
                continue
            if not any(each is kept.value for each in held):
                self._write(kept, Step(origin.origin, "`load_state_dict` overwrites them"))
            elif place is not None and (not kept.used or kept.earlier):
                self._tell(kept, Step(origin.origin, f"`{kept.source}` is given its own tensors here"))

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        if self._kept:
            self._read(name, value, origin)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if self._kept:
            self._read(dotted(origin), value, origin)

    def _read(self, name: str, value: Value, origin: ir.Node) -> None:
        held = [each for _, each in alternatives(value, self.machine.guard)]
        for kept in self._kept:
            if not any(each is kept.value for each in held):
                continue
            use = self._use(origin)
            if use == "values" and kept.name == name and kept.earlier:
                self._tell(kept, Step(origin.origin, f"`{name}` is read here"))
            kept.used = kept.used or use != ""

    def _use(self, origin: ir.Node) -> str:
        """What a statement does with what it reads: "values", "other", "" for a test or for handing it over."""
        statement = self.machine.statement
        if statement is None:
            return "other"
        parent = parent_of(statement, origin)
        if isinstance(parent, ir.Subscript):
            stored = isinstance(statement, (ir.Assign, ir.Delete)) and any(each is parent for each in statement.targets)
            return "other" if stored else "values"
        if isinstance(parent, ir.Attribute):
            return (
                "values"
                if parent.attr in ("items", "values")
                else "other"
                if parent.attr in _CHANGES - {"append"}
                else ""
            )
        if isinstance(parent, ir.Argument):
            call = parent_of(statement, parent)
            return "values" if isinstance(call, ir.Call) and dotted(call.function) in _THROUGH else ""
        return "values" if isinstance(parent, (ir.Binary, ir.For, ir.Generator)) else ""

    def _tell(self, kept: _Kept, read: Step) -> None:
        machine = self.machine
        if kept.written is None or id(kept.event.node) in self._told or machine.assumed - machine.path:
            return
        step, guard = kept.written
        if conjoin(kept.guard, guard, machine.guard) is None:
            return
        self._told.add(id(kept.event.node))
        event = kept.event
        machine.emit(
            SnapshotWritten(
                node=event.node,
                statement=event.statement,
                trace=(step, read),
                kept=event.kept,
                source=event.source,
                how=event.how,
                copying=event.copying,
            )
        )


def _pairs(statement: ir.Assign) -> list[tuple[ir.Expression, ir.Expression]]:
    """Each target of an assignment, with the expression that it is given."""
    found: list[tuple[ir.Expression, ir.Expression]] = []
    for target in statement.targets if statement.value is not None else ():
        value = statement.value
        assert value is not None
        if not isinstance(target, ir.Sequence):
            found.append((target, value))
        elif isinstance(value, ir.Sequence) and len(value.elements) == len(target.elements):
            found += zip(target.elements, value.elements, strict=True)
    return found


def _compared(test: ir.Expression) -> set[str]:
    """The names that a test orders."""
    ordered = [each for each in ir.walk(test) if isinstance(each, ir.Compare) and {"<", ">", "<=", ">="} & {*each.ops}]
    return {dotted(side) for each in ordered for side in (each.left, *each.rights)} - {""}


def _assigned(body: list[ir.Statement]) -> set[str]:
    """The names that the statements of a block bind."""
    return {dotted(target) for each in body if isinstance(each, ir.Assign) for target, _ in _pairs(each)}


def _uncopied(value: ir.Expression) -> tuple[ir.Call, Copying, ir.Expression] | None:
    """
    The call that gives what a Module holds, if the value is that without a copy; which kind of copy is missing, and
    where it belongs.
    """
    if isinstance(value, ir.Comprehension):
        return _comprehended(value)
    if not isinstance(value, ir.Call):
        return None
    if isinstance(value.function, ir.Attribute) and value.function.attr in _SOURCES:
        return value, "each" if value.function.attr == "state_dict" else "", value
    if isinstance(value.function, ir.Attribute) and value.function.attr == "copy" and not value.arguments:
        inner: ir.Expression | None = value.function.value
    elif dotted(value.function) in _SHALLOW and len(value.arguments) == 1 and not value.arguments[0].star:
        inner = value.arguments[0].value
    else:
        return None
    found = _uncopied(inner) if inner is not None else None
    return (found[0], "", value) if found is not None else None


def _comprehended(value: ir.Comprehension) -> tuple[ir.Call, Copying, ir.Expression] | None:
    """A list or dict comprehension over what a Module holds, whose elements are those tensors or share their memory."""
    if len(value.generators) != 1 or value.kind not in ("list", "dict"):
        return None
    generator = value.generators[0]
    iterable, target = generator.iterable, generator.target
    method = iterable.function if isinstance(iterable, ir.Call) else None
    if isinstance(method, ir.Attribute) and method.attr in ("items", "values"):
        iterable = method.value
    found = _uncopied(iterable) if isinstance(iterable, ir.Call) else None
    if isinstance(target, ir.Sequence):
        target = target.elements[-1]
    element, how = value.element, "parameter"
    if isinstance(element, ir.Call) and isinstance(element.function, ir.Attribute):
        if element.function.attr == "detach" and not element.arguments:
            element, how = element.function.value, "detached"
    elif isinstance(element, ir.Attribute) and element.attr == "data":
        element, how = element.value, "detached"
    named = isinstance(element, ir.Name) and isinstance(target, ir.Name) and element.id == target.id
    if found is None or not named:
        return None
    return found[0], "detached" if how == "detached" else "parameter", value.element
