"""
Leaves of which unknown code has had a hold, and that a loop replaces by what is computed from them and their gradient.

`x = x + eps * x.grad.sign()`, where `loss` is what an unknown `model` makes of `x`: that the gradient is used in the
sum shows that it was there, so `x` was a leaf; the sum is none, and its `.grad` is None when the loop comes by again
(https://docs.pytorch.org/docs/stable/notes/autograd.html). Where the model knows leaf and gradient, `lost_leaves`
tells it. Reads; does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.knowledge.ops import find as ops
from torchlint.model.events.registration import LeafLost
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import expression
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import GRAD_YES, Function, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import one_of

_RECORDED = frozenset({"+", "-", "*", "/"})
_FLAGGING = frozenset({"requires_grad_", "retain_grad"})


@dataclass(slots=True, eq=False)
class _Flagged:
    """The program has said of a value that it requires grad."""

    value: Value
    step: Step
    path: Guard


@dataclass(slots=True, eq=False)
class _Update:
    """A statement has bound a name to what it computed from the leaf of that name and its gradient."""

    statement: ir.Statement
    value: Value
    event: LeafLost
    path: Guard
    flagged: bool = False
    """The result was made a leaf again, or told to retain its gradient."""


class UpdatedLeaves(Observer):
    """Raises `LeafLost`."""

    words = ("grad",)
    concerns = (one_of({"requires_grad", "requires_grad_"}),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._clear()

    def _clear(self) -> None:
        self._flagged: list[_Flagged] = []
        self._updates: list[_Update] = []
        self._read: tuple[ir.Statement, Value] | None = None
        self._told: set[int] = set()

    def entry_started(self, function: Function | None) -> None:
        self._clear()

    def concluded(self) -> None:
        self._clear()

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if name == "requires_grad":
            self._flag(owner, node)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name in _FLAGGING:
            self._flag(receiver, origin)
            if result is not None and result is not receiver:
                self._flag(result, origin)

    def _flag(self, value: Value, node: ir.Node) -> None:
        for each in self._updates:
            each.flagged = each.flagged or each.value is value
        if isinstance(value, (Tensor, Unknown)):
            self._flagged.append(_Flagged(value, Step(node.origin, "it is made a leaf here"), self.machine.path))

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        if isinstance(self.machine.statement, ir.ExpressionStatement) and self.machine.statement.value is origin:
            # nobody wants its value, so it was called for what it does to what it is given
            for each in self._updates:
                each.flagged = each.flagged or any(each.value is given for given in arguments)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        statement = self.machine.statement
        if name != "grad" or statement is None:
            return
        self._read = (statement, owner)
        for each in self._updates:
            again = each.statement is statement and each.value is owner and each.path <= self.machine.path
            if again and not each.flagged and id(statement) not in self._told and self.machine.is_certain():
                self._told.add(id(statement))
                self.machine.emit(each.event)

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        if isinstance(value, Tensor) and value.own == GRAD_YES and not value.inputs:
            self._flagged.append(_Flagged(value, Step(node.origin, "the leaf is created here"), self.machine.path))
        read = self._read
        if read is None or not isinstance(node, ir.Assign) or read[0] is not node or node.value is None:
            return
        leaf = read[1]
        known = isinstance(value, Tensor) and value.is_leaf is not Truth.MAYBE
        if known or not isinstance(value, (Tensor, Unknown)) or self.machine.grad_mode is not Truth.YES:
            return
        if not self.machine.iteration or not _uses_gradient(node.value, name) or not _computed(node.value, name):
            return
        path = self.machine.path
        flagged = next((each for each in self._flagged if each.value is leaf and each.path <= path), None)
        written = expression(node.value)
        if flagged is None or written is None:
            return
        event = LeafLost(
            node=written,
            statement=self.machine.line(),
            trace=(flagged.step,),
            how="rebound",
            name=name,
            op="",
            factory=None,
            value_node=written,
        )
        self._updates.append(_Update(node, value, event, path))


def _uses_gradient(node: ir.Expression, name: str) -> bool:
    """Whether the gradient of that name is an operand or the receiver of a method: of None neither goes."""
    if isinstance(node, ir.Binary):
        return any(_is_gradient(each, name) or _uses_gradient(each, name) for each in (node.left, node.right))
    if isinstance(node, ir.Unary):
        return _is_gradient(node.operand, name) or _uses_gradient(node.operand, name)
    if isinstance(node, ir.Call):
        function = node.function
        received = function.value if isinstance(function, ir.Attribute) else None
        if received is not None and (_is_gradient(received, name) or _uses_gradient(received, name)):
            return True
        return any(_uses_gradient(each.value, name) or _is_gradient(each.value, name) for each in node.arguments)
    if isinstance(node, ir.Attribute):
        return _is_gradient(node.value, name) or _uses_gradient(node.value, name)
    return False


def _is_gradient(node: ir.Expression, name: str) -> bool:
    return isinstance(node, ir.Attribute) and node.attr == "grad" and _is_name(node.value, name)


def _is_name(node: ir.Expression, name: str) -> bool:
    return isinstance(node, ir.Name) and node.id == name


def _computed(node: ir.Expression, name: str) -> bool:
    """Whether an expression is recorded for that name: it goes into operators and functions of torch alone."""
    if isinstance(node, ir.Binary):
        return node.op in _RECORDED and (_computed(node.left, name) or _computed(node.right, name))
    if isinstance(node, ir.Unary):
        return node.op in ("-", "+") and _computed(node.operand, name)
    if isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute):
        function = node.function
        owner = function.value
        if isinstance(owner, ir.Name) and owner.id == "torch":
            first = node.arguments[0].value if node.arguments else None
            return first is not None and ops.passes_gradient_back(f"torch.{function.attr}") and _computed(first, name)
        return ops.passes_gradient_back(f"torch.Tensor.{function.attr}") and _computed(owner, name)
    return _is_name(node, name)
