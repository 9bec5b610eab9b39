"""
Leaves that get lost on the way to their name, and `requires_grad` that is set where nobody reads it.

A leaf accumulates into its `.grad`; the result of an operation on it is no leaf and doesn't
(https://docs.pytorch.org/docs/stable/notes/autograd.html).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Literal

from torchlint.condition import Condition
from torchlint.model.events import BackwardCallee
from torchlint.model.events.registration import GradFlagSet, LeafLost
from torchlint.model.events.trace import Step
from torchlint.model.observers.moments import holds
from torchlint.model.observers.moved import moved
from torchlint.model.observers.pending import expression
from torchlint.model.python.attributes import is_module
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    GRAD_YES,
    Constant,
    Function,
    GraphNode,
    Instance,
    Module,
    Optimizer,
    Scalar,
    Tensor,
    Unknown,
    Value,
    Write,
    alternatives,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATING, one_of
from torchlint.syntax.tree import python_node


def _misspellings() -> frozenset[str]:
    """What people write for `requires_grad`: other words for it, a letter too few or twice, two in the wrong order."""
    right = "requires_grad"
    needs, what = ("require", "requires", "required", "need", "needs"), ("grad", "grads", "gradient", "gradients")
    found = {word for need in needs for each in what for word in (f"{need}_{each}", f"{each}_{need}")}
    for place, letter in enumerate(right):
        before, after = right[:place], right[place + 1 :]
        found |= {before + after, f"{before}{letter}{letter}{after}", before + after[:1] + letter + after[1:]}
    return frozenset(found | {"requre_grad", "requires_grade"}) - {right}


_MISSPELT = _misspellings()
_ON_PURPOSE = frozenset({"clone", "retain_grad"})
_SUBMODULES = frozenset({"modules", "children"})
_MODULE_ONLY = frozenset(
    {"parameters", "named_parameters", "modules", "children", "named_modules", "state_dict", "load_state_dict", "eval"}
)


@dataclass(slots=True, eq=False)
class _Lost:
    """A name bound to the result of an operation on a leaf that nothing else holds."""

    leaf: Tensor
    value: Tensor
    bound: Value
    """What the name holds: the result, or the leaf where an operation may give it back."""
    name: str
    op: str
    factory: cst.Call
    written: cst.BaseExpression
    line: cst.CSTNode
    conditions: tuple[Condition, ...] = ()
    reached: Step | None = None
    read: bool = False
    wanted: bool = False
    """Somebody reads the gradient that is not there, or has an optimizer step with it."""


class LostLeaves(Observer):
    """Leaves that require grad, and flags that are none."""

    concerns = (DIFFERENTIATING, one_of({"requires_grad", *_MISSPELT}))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._start()

    def _start(self) -> None:
        self._lost: list[_Lost] = []
        self._flags: list[tuple[Value, Guard, GradFlagSet]] = []
        self._modules: list[tuple[Value, Guard]] = []
        self._rebound: list[tuple[Tensor, LeafLost]] = []
        self._told: set[int] = set()
        self._given: list[Tensor] = []

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._given += [each for each in arguments.values() if isinstance(each, Tensor) and not each.name]

    def concluded(self) -> None:
        for each in self._lost:
            if each.reached is not None and each.wanted and not each.read and not each.value.retains_grad:
                self.machine.emit(
                    LeafLost(
                        node=each.written,
                        statement=each.line,
                        trace=(Step(each.factory, "the leaf is created here"), each.reached),
                        conditions=each.conditions,
                        how="created",
                        name=each.name,
                        op=each.op,
                        factory=each.factory,
                        value_node=each.written,
                    )
                )
        for owner, path, event in self._flags:
            # What shows a module must hold on every way to the flag, and not in the other arm of an `isinstance`.
            if any(owner is each and shown <= path for each, shown in self._modules):
                self.machine.emit(event)
        self._start()

    # -- lost

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        written = node.value.origin if isinstance(node, ir.Assign) and node.value is not None else None
        if not isinstance(written, cst.BaseExpression) or self.machine.assumed - self.machine.path:
            return
        if isinstance(value, Tensor):
            self._created(name, value, value, written)
            self._rebinds(name, value, written)
        elif (found := moved(value)) is not None:
            self._created(name, found[0], value, written, (found[1],))

    def _created(
        self,
        name: str,
        value: Tensor,
        bound: Value,
        written: cst.BaseExpression,
        conditions: tuple[Condition, ...] = (),
    ) -> None:
        leaf, ops = value, set()
        while leaf.inputs and leaf.is_leaf is Truth.NO:
            if leaf is not value and (leaf.name or self._is_given(leaf)):
                return
            tracked = [each for each in leaf.inputs if each.requires_grad.truth() is not Truth.NO]
            if len(tracked) != 1:
                return
            ops.add(leaf.op.rpartition(".")[2])
            leaf = tracked[0]
        if leaf is value or leaf.own != GRAD_YES or leaf.is_parameter is not Truth.NO:
            return
        named = leaf.name and not (bound is not value and leaf.line is self.machine.line())
        if named or self._is_given(leaf):
            return
        made = leaf.origin
        factory = made.origin
        if (
            not isinstance(made, ir.Call)
            or not isinstance(factory, cst.Call)
            or _ON_PURPOSE & ops
            or _changes_nothing(written)
        ):
            return
        if any(argument.keyword == "requires_grad" for argument in made.arguments):
            op = value.made_by or min(ops)
            line = self.machine.line()
            self._lost.append(_Lost(leaf, value, bound, name, op, factory, written, line, conditions))

    def _is_given(self, tensor: Tensor) -> bool:
        """Whether a parameter of a function of the file holds the tensor."""
        return any(tensor is each for each in self._given)

    def _rebinds(self, name: str, value: Tensor, written: cst.BaseExpression) -> None:
        if not self.machine.iteration or value.is_leaf is not Truth.NO:
            return
        pending, seen = [(value, 0)], [value]
        while pending:
            tensor, depth = pending.pop()
            for each in tensor.inputs if depth < 4 else ():
                if not any(each is known for known in seen):
                    seen.append(each)
                    pending.append((each, depth + 1))
        for leaf in seen:
            own = leaf.name == name and leaf.own == GRAD_YES and leaf.is_leaf is Truth.YES
            if own and any(each.grad_of is leaf for each in seen):
                event = LeafLost(
                    node=written,
                    statement=self.machine.line(),
                    trace=(Step(leaf.origin.origin, f"the leaf `{name}` is created here"),),
                    how="rebound",
                    name=name,
                    op=value.made_by,
                    factory=None,
                    value_node=written,
                )
                self._rebound.append((value, event))
                return

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        for each in self._lost if name == "grad" else ():
            each.wanted = each.wanted or owner is each.value or owner is each.bound
        # Bound to another leaf before its gradient is read, the name has lost nothing.
        for rebound, event in self._rebound if name == "grad" else ():
            if owner is rebound and id(event.node) not in self._told and self.machine.is_certain():
                self._told.add(id(event.node))
                self.machine.emit(event)

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
        for each in self._lost:
            if callee == "autograd.grad":
                each.read = True
            elif each.reached is None and any(leaf is each.leaf for leaf in leaves):
                each.reached = Step(origin.origin, "its gradient goes to a leaf that nothing holds")

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        for each in self._lost:
            given = parameters is not None and (holds(parameters, each.value) or holds(parameters, each.bound))
            each.wanted = each.wanted or given

    def wrote(self, tensor: Tensor, write: Write) -> None:
        # Only what is no leaf can be written in place: it was made one for that.
        for each in self._lost:
            each.read = each.read or tensor is each.value

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        self._handed_over(arguments)

    def _handed_over(self, values: list[Value]) -> None:
        for each in self._lost:
            each.read = each.read or any(value is each.value or value is each.bound for value in values)

    # -- flags

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name in _MODULE_ONLY and isinstance(receiver, Unknown):
            self._modules.append((receiver, self.machine.path))
        if name in ("register_hook", "register_post_accumulate_grad_hook"):
            for each in self._lost:
                each.read = each.read or each.value is receiver or each.bound is receiver
        elif name == "apply":
            self._handed_over(positional)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if not isinstance(node, ir.Attribute) or not (name == "requires_grad" or name in _MISSPELT):
            return
        unseen = isinstance(owner, Unknown) and owner.tensor is None and not owner.element_of_parameters
        if self._is_module(owner, name):
            self.machine.emit(self._flag(name, "module", node))
        elif name == "requires_grad":
            if unseen:
                self._flags.append((owner, self.machine.path, self._flag(name, "module", node)))
        elif (isinstance(owner, Tensor) or (isinstance(owner, Unknown) and not unseen)) and not self._is_read(name):
            off = isinstance(value, Constant) and value.value is False
            needless = off and isinstance(owner, Tensor) and owner.requires_grad.truth() is Truth.NO
            self.machine.emit(replace(self._flag(name, "tensor", node), holds=needless))

    def _is_read(self, name: str) -> bool:
        """Whether the file asks for an attribute that torch does not know: it is a mark of its own then."""
        text = self.machine.program.text
        return re.search(rf"\bif\b[^\n]*\.{name}\b|[\"']{name}[\"']", text) is not None

    def _is_module(self, value: Value, name: str) -> bool:
        if isinstance(value, Module):
            return not _has_no_parameters(value)
        if isinstance(value, Instance):
            defined = any(name in cls.attributes for cls in value.cls.ancestry()) or name in value.attributes
            own = any(name in _assigned(cls.definition) for cls in value.cls.ancestry())
            return is_module(value) is Truth.YES and not defined and not own and not _holds_no_parameter(value)
        source = value.source if isinstance(value, Unknown) else None
        function = source.function if isinstance(source, ir.Call) else None
        return isinstance(function, ir.Attribute) and function.attr in _SUBMODULES

    def _flag(self, name: str, of: Literal["tensor", "module"], target: ir.Attribute) -> GradFlagSet:
        statement = self.machine.statement
        alone = isinstance(statement, ir.Assign) and statement.annotation is None and len(statement.targets) == 1
        value = expression(statement.value) if isinstance(statement, ir.Assign) and alone and statement.value else None
        node, owner = expression(target), expression(target.value)
        assert isinstance(node, cst.Attribute)
        assert owner is not None
        return GradFlagSet(
            node=node,
            statement=self.machine.line(),
            attribute=name,
            owner=owner,
            of=of,
            target=node,
            value=value,
        )


def _holds_no_parameter(value: Value, depth: int = 4) -> bool:
    """Whether there is nothing that a Module of the file could keep from learning: it holds numbers and buffers."""
    if isinstance(value, Module):
        return _has_no_parameters(value)
    if isinstance(value, Instance):
        held = [each for name in value.attributes for _, each in alternatives(value.attributes[name])]
        known = is_module(value) is Truth.YES and depth > 0
        return known and all(_holds_no_parameter(each, depth - 1) for each in held)
    return isinstance(value, (Constant, Scalar)) or (isinstance(value, Tensor) and value.is_parameter is Truth.NO)


def _changes_nothing(written: cst.BaseExpression) -> bool:
    """`x * 1` and `x + 0`: the shortest way to a tensor that is no leaf."""
    node = python_node(written)
    if not isinstance(node, ast.BinOp) or not isinstance(node.right, ast.Constant):
        return False
    number = node.right.value
    return type(number) in (int, float) and number == (1 if isinstance(node.op, (ast.Mult, ast.Div)) else 0)


def _has_no_parameters(module: Module) -> bool:
    """Whether a layer certainly has nothing that could be frozen: a pooling, an activation, a row of them."""
    if not module.kind.container:
        return not module.kind.trainable
    return bool(module.children) and all(
        isinstance(each, Module) and _has_no_parameters(each) for each in module.children or ()
    )


def _assigned(definition: ir.ClassDef) -> set[str]:
    """The attributes that the methods of a class set."""
    found: set[str] = set()
    pending: list[ir.Statement] = list(definition.body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, ir.Assign):
            found |= {target.attr for target in statement.targets if isinstance(target, ir.Attribute)}
        for block in ("body", "orelse", "final"):
            pending += getattr(statement, block, [])
    return found
