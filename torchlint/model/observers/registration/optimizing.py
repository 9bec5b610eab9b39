"""
What optimizers are given, and what they miss.

`torch.optim.Optimizer.__init__` (torch/optim/optimizer.py) takes an iterable of tensors, once: it refuses non-leaves,
single tensors and empty iterables, and never looks at the module again.
"""

from __future__ import annotations

import ast
import re

from torchlint.condition import Condition
from torchlint.knowledge.modules import optimizers
from torchlint.model.events import BackwardCallee
from torchlint.model.events.registration import Given, Missing, OptimizerGiven, OptimizerMisses
from torchlint.model.events.trace import Step
from torchlint.model.observers.moments import holds, receiver_of
from torchlint.model.observers.moved import moved
from torchlint.model.observers.registration.frozen import Frozen, frozen_in
from torchlint.model.observers.registration.replaced import Replacements
from torchlint.model.observers.registration.unreached import Backwards
from torchlint.model.python.attributes import is_module
from torchlint.model.python.making import made_as_written
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Bound,
    External,
    GraphNode,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    alternatives,
    explore,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import one_of
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import python_node, written

_REGISTERS = re.compile(r"\b(add_module|register_module|register_parameter|setattr|__setattr__|_modules|_parameters)\b")
_ITERATES = frozenset({"__iter__", "__getitem__", "__getattr__"})
_IN_PART = re.compile(r"\b(any|all|next|iter|zip|islice|takewhile|tee|chain|map|filter)\(| in ")
_LEAVES = re.compile(r"\b(break|return|yield|raise)\b")
_HEADER = re.compile(r"\bfor\b[^:()]*? in ")
_ITERATE = ("torch.nn.utils.clip_grad", "torch.nn.utils.get_total_norm", "torch.optim.")
_HARMLESS = ("torch.", "builtins.", "numpy.", "math.", "random.", "time.", "logging.", "tqdm")


class Optimizing(Observer):
    """Optimizers of `torch.optim`."""

    words = ("optim",)
    concerns = (one_of({"*optim", *(name.rpartition(".")[2] for name in optimizers.names())}),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._start()

    def _start(self) -> None:
        self._consumed: list[tuple[Value, Guard, cst.CSTNode]] = []
        self._given: dict[int, tuple[Value, Value]] = {}
        self._replaceable: dict[int, Value] = {}  # attributes that an object of a derived class may hold otherwise
        self._replacements = Replacements(self.machine)
        self._built: dict[int, tuple[ir.Expression, cst.CSTNode]] = {}
        self._added: dict[int, tuple[ir.Expression, cst.CSTNode]] = {}
        self._backwards = Backwards(self.machine)
        self._open: list[Optimizer] = []
        self._told: set[int] = set()
        self._frozen = Frozen(self.machine)

    def concluded(self) -> None:
        self._replacements.conclude()
        self._frozen.conclude()
        self._start()

    # -- what it is given

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        name = dotted(origin.function).rpartition(".")[2]
        self._replacements.optimizer_built(self._module_of(parameters))
        if parameters is None or self.machine.assumed - self.machine.path:
            return
        argument = next((a for a in origin.arguments if a.keyword in ("", "params") and not a.star), None)
        if argument is None or not isinstance(argument.value.origin, cst.CSTNode):
            return
        self._built[id(optimizer)] = (argument.value, self.machine.line())
        options = [each for _, each in alternatives(parameters)]
        if len(options) != 1:
            return
        self._judged(options[0], argument.value, optimizer)
        if isinstance(options[0], Sequence):
            self._iterable(options[0], origin, name, argument.value)
            if (module := self._module_of(options[0])) is not None:
                self._replacements.taken(optimizer, module, name, origin)

    def _judged(self, value: Value, node: ir.Expression, optimizer: Optimizer) -> None:
        """Whether the argument, or a part of it, is something that no optimizer takes."""
        if isinstance(value, Tensor):
            self._tell("tensor", node, dotted(node), "")
        elif _is_one_module(value):
            self._tell("module", node, dotted(node), "")
        elif isinstance(value, Bound) and value.name == "parameters":
            self._tell("method", node, dotted(node), "")
        elif isinstance(value, Sequence):
            nodes = node.elements if isinstance(node, ir.Sequence) else []
            items = list(value.items or ())
            for index, item in enumerate(items):
                place = nodes[index] if len(nodes) == len(items) else node
                self._part(item, place, optimizer)
                if isinstance(item, Sequence):
                    return
        elif isinstance(value, Mapping) and value.items is not None and "params" in value.items:
            self._part(value.items["params"], node, optimizer)

    def _part(self, value: Value, node: ir.Expression, optimizer: Optimizer) -> None:
        # torch takes what is no leaf where it retains its gradient: unknown code may have had it do so
        if isinstance(value, Tensor):
            if value.is_leaf is Truth.NO and not value.retains_grad and not value.storage.handed_on():
                self._tell("non-leaf", node, dotted(node) or value.name, value.op.rpartition(".")[2] or value.made_by)
        elif (found := moved(value)) is not None and not found[0].retains_grad and not found[0].storage.handed_on():
            self._tell("non-leaf", node, dotted(node) or found[0].name, "to", conditions=(found[1],))
        elif _is_one_module(value):
            self._tell("module", node, dotted(node), "")
        elif isinstance(value, Sequence) and value.kind == "generator" and value.parameters_of:
            self._tell("generator", node, f"{value.parameters_of}.parameters()", "")
        elif isinstance(value, Mapping) and value.items is not None and "params" in value.items:
            inner, node = value.items["params"], _written_in(node)
            if isinstance(inner, Sequence):
                for item in inner.items or ():
                    self._part(item, node, optimizer) if isinstance(item, Tensor) else None
            elif isinstance(inner, Tensor) or _is_one_module(inner):
                self._part(inner, node, optimizer)

    def _group_added(
        self, optimizer: Value, positional: list[Value], keywords: dict[str, Value], origin: ir.Call
    ) -> None:
        given = keywords.get("param_group", positional[0] if positional else None)
        if not isinstance(optimizer, Optimizer) or not isinstance(given, Mapping) or given.items is None:
            return
        if len(origin.arguments) != 1 or origin.arguments[0].star or self.machine.assumed - self.machine.path:
            return
        node = origin.arguments[0].value
        self._part(given, node, optimizer)
        held = given.items.get("params")
        for tensor in held.items or () if isinstance(held, Sequence) else (held,):
            if isinstance(tensor, Tensor):
                self._added[id(tensor)] = (node, self.machine.line())

    def _tell(
        self,
        what: Given,
        node: ir.Expression,
        name: str,
        op: str,
        line: cst.CSTNode | None = None,
        conditions: tuple[Condition, ...] = (),
        frozen: Tensor | None = None,
    ) -> None:
        if id(node.origin) in self._told or not self.machine.is_certain():
            return
        self._told.add(id(node.origin))
        statement = line if line is not None else self.machine.line()
        event = OptimizerGiven(
            node=node.origin, statement=statement, conditions=conditions, what=what, name=name, op=op
        )
        if frozen is None:
            self.machine.emit(event)
        else:
            self._frozen.found(frozen, event)

    def required_grad(self, tensor: Tensor, value: Value | None, how: str, origin: ir.Node) -> None:
        self._frozen.required_grad(tensor, value)

    def _iterable(self, value: Sequence, origin: ir.Call, name: str, node: ir.Expression) -> None:
        places = [place for each, path, place in self._consumed if each is value and path <= self.machine.path]
        used = next((place for place in places if uses_up(place)), None) if value.kind == "generator" else None
        if used is not None:
            self._miss("consumed", origin, name, dotted(node), Step(used, "the generator is used up here"))
        elif value.items == () and not places and not self._hides(value) and id(value) not in self._replaceable:
            text = value.parameters_of or ""
            self._miss("empty", origin, name, text, None)
        if value.kind == "generator":
            self._consumed.append((value, self.machine.guard, origin.origin))

    def _hides(self, value: Sequence) -> bool:
        """Whether the module may have parameters that the model didn't see being registered."""
        module = self._module_of(value)
        return bool(value.parameters_of) if module is None else _dynamic(module)

    def _module_of(self, parameters: Value | None) -> Value | None:
        """The module whose `parameters()` a value is."""
        known = self._given.get(id(parameters))
        return None if known is None else known[1]

    def _miss(self, why: Missing, origin: ir.Call, optimizer: str, name: str, step: Step | None) -> None:
        if id(origin) in self._told or not self.machine.is_certain():
            return
        self._told.add(id(origin))
        self.machine.emit(
            OptimizerMisses(
                node=origin.origin,
                statement=self.machine.line(),
                trace=(step,) if step is not None else (),
                why=why,
                optimizer=optimizer,
                name=name,
            )
        )

    # -- generators are used up

    def iterated(self, value: Value) -> None:
        if isinstance(value, Sequence) and value.kind == "generator":
            self._consumed.append((value, self.machine.guard, self.machine.line()))

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified.startswith(_ITERATE) and positional and not qualified.startswith("torch.optim."):
            self.iterated(positional[0])

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "parameters" and isinstance(result, Sequence):
            self._given[id(result)] = (result, receiver)
        elif name == "add_param_group":
            self._group_added(receiver, positional, keywords, origin)
            self._replacements.changed(receiver)
        elif name == "step":
            self._replacements.stepped((receiver, *positional))

    # -- what may change it later

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if isinstance(owner, Optimizer):
            self._changed(owner)
        self._replacements.assigned(owner, name, value, node)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if isinstance(owner, Optimizer) and name == "param_groups":
            self._changed(owner)
        elif isinstance(owner, Instance) and not owner.exact:
            self._replaceable[id(value)] = value

    def _changed(self, optimizer: Optimizer) -> None:
        """An optimizer may have been given more parameters."""
        self._open.append(optimizer)
        self._replacements.changed(optimizer)

    # -- gradients that reach nothing of it

    def backward(
        self,
        callee: BackwardCallee,
        root: Tensor,
        nodes: list[GraphNode],
        leaves: list[Tensor],
        inputs: list[Tensor] | None,
        create_graph: bool | None,
        origin: ir.Node,
    ) -> None:
        known = callee != "autograd.grad" and bool(nodes) and not any(node.opaque for node in nodes)
        self._backwards.note(leaves if known else [], origin)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        for value in (*arguments, *([receiver] if receiver is not None else [])):
            for optimizer in self._replacements.optimizers():
                if holds(value, optimizer):
                    self._changed(optimizer)
            for tensor in reachable_tensors(value) if self._frozen else ():
                self._frozen.required_grad(tensor, None)
        if not (isinstance(callee, External) and callee.qualified.startswith(_HARMLESS)):
            self._backwards.note([], origin)

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        if not isinstance(optimizer, Optimizer) or not optimizer.complete or not optimizer.parameters:
            return
        tensor = frozen_in(optimizer) if id(optimizer) in self._built else None
        if tensor is not None:
            node, line = self._added.get(id(tensor), self._built[id(optimizer)])
            name = _spelled_in(node, tensor, optimizer) or tensor.name
            self._tell("cut", node, name, tensor.made_by, line, frozen=tensor)
            return
        if origin.arguments or any(optimizer is each for each in self._open):
            return
        missed = self._backwards.missed_by(optimizer.parameters)
        if missed is not None:
            self._miss("unreached", origin, receiver_of(origin), "", missed)


def uses_up(place: cst.CSTNode) -> bool:
    """Whether a statement goes through all that it iterates over: `any(...)`, `next(...)`, a `break` may not."""
    node = python_node(place)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        body = "\n".join(map(ast.unparse, node.body))
        return not _IN_PART.search(ast.unparse(node.iter)) and not _LEAVES.search(body)
    text = ast.unparse(node.test) if isinstance(node, (ast.If, ast.While)) else written(place)
    return _IN_PART.search(_HEADER.sub("", text)) is None


def _is_one_module(value: Value) -> bool:
    """Whether a value is a Module, and iterating over it gives none of its parameters."""
    if isinstance(value, Module):
        return value.kind.container != "parameters"
    if not isinstance(value, Instance) or is_module(value) is not Truth.YES:
        return False
    return made_as_written(value.cls) and all(_ITERATES.isdisjoint(cls.attributes) for cls in value.cls.ancestry())


def _dynamic(value: Value) -> bool:
    """Whether a module, or one in it, registers in ways that the model doesn't follow."""
    return any(_is_dynamic(each) for each in explore(value, _modules_in))


def _is_dynamic(value: Value) -> bool:
    if isinstance(value, Module):
        return bool(value.kind.container) and not value.children
    if isinstance(value, Instance):
        text = (written(cls.definition.origin) for cls in value.cls.ancestry())
        return any(_REGISTERS.search(each) for each in text)
    return True


def _modules_in(value: Value) -> list[Value]:
    if isinstance(value, Module):
        return list(value.children or ())
    if not isinstance(value, Instance):
        return []
    nested = (each for option in value.attributes.values() for _, each in alternatives(option))
    return [each for each in nested if isinstance(each, (Module, Instance))]


def _written_in(group: ir.Expression) -> ir.Expression:
    """The parameters of a group, where the group is written out: `{"params": here}`."""
    if isinstance(group, ir.Dict):
        for key, value in zip(group.keys, group.values, strict=True):
            if isinstance(key, ir.Constant) and key.value == "params" and isinstance(value.origin, cst.CSTNode):
                return value
    return group


def _spelled_in(node: ir.Expression, tensor: Tensor, optimizer: Optimizer) -> str:
    """How a list that an optimizer is given spells one of its tensors: what shares memory has a name of its own."""
    places = node.elements if isinstance(node, ir.Sequence) else []
    if len(places) != len(optimizer.parameters):
        return ""
    return next((dotted(p) for p, each in zip(places, optimizer.parameters, strict=True) if each is tensor), "")
