"""
Losses that are computed and dropped: bound to a name that nothing reads, or that is bound anew first.

`loss = criterion(a, y)` and in the next line `loss = criterion(b, y)`: torch differentiates the second alone. That
nothing reads a value is seen from the text (`syntax/liveness`), that it is a loss of what a model gives from what is
called, and from the graph. What a function of the file computes may be wanted for what that does beside: only one that
does nothing beside counts. Does not judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from torchlint.knowledge.modules import losses
from torchlint.knowledge.ops import find as ops
from torchlint.model.events.trace import Step
from torchlint.model.events.training import LossDropped
from torchlint.model.observers.pending import PendingEvents, expression, only
from torchlint.model.state.frames import function_name
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.tensors import GraphNode
from torchlint.model.state.values import Choice, Frame, Function, Instance, Module, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.dataflow import read_before_set
from torchlint.syntax.features import BINDS_LOSS, here
from torchlint.syntax.liveness import may_be_read, reads
from torchlint.syntax.spelling import dotted, is_called_loss, last_word
from torchlint.syntax.tree import written

_CRITERION = re.compile(
    r"^(?!(get|compute|calc|calculate|run|log|forward|evaluate|eval|add|set|reset|print|plot|save|load|build|make|create|"
    r"record|track|register|show)_?)(?!.*(backward|step|update|train|optimi|scale))"
    r"(\w*_)?(loss|criterion|crit|loss_?fn|loss_?func|loss_?function|cross_entropy|objective|bce|mse|nll|kl|kld|ce|"
    r"penalty)(_?\d+|_\w+)?$",
    re.IGNORECASE,
)


_COMBINING = frozenset({"+", "-", "*", "/", "+=", "add", "sub", "mul", "div", "sum", "mean", "stack"})
"""Operations that make one loss of several."""
_MOST_TERMS = 12


class DroppedLosses(Observer):
    """Watches what is bound to names that say that it is a loss, or is what a criterion gives."""

    concerns = (here(BINDS_LOSS),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._known: dict[int, tuple[Literal["overwritten", "unread", "iterations"], ir.Node | None] | None] = {}

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        self.pending.flush()

    def finished(self) -> None:
        self._known.clear()

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        if not isinstance(node, ir.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ir.Name):
            return
        machine = self.machine
        if machine.foreign_call is not None or machine.expected_errors or machine.grad_mode is not Truth.YES:
            return
        if id(node) in self._known and self._known[id(node)] is None:
            return
        if not (is_called_loss(name) or _calls_loss(node.value)):
            return
        called = self._criterion(node.value)
        if called is None or not (called or is_called_loss(name)):
            return
        found = only(value, machine)
        grad = self._requires_grad(found)
        if grad is Truth.NO or (grad is Truth.MAYBE and not called and not isinstance(found, Tensor)):
            return
        place = expression(node.value) if node.value is not None else None
        if place is None:
            return
        if id(node) not in self._known:
            self._known[id(node)] = self._dropped(node, name)
        dropped = self._known[id(node)]
        if dropped is None:
            return
        how, other = dropped
        step = None
        if other is not None:
            words = {"overwritten": f"`{name}` is bound anew", "unread": "another loss is differentiated",
                     "iterations": "the backward starts at the last one alone"}  # fmt: skip
            step = Step(other.origin, words[how])
        event = LossDropped(
            node=place,
            statement=node.line,
            trace=(step,) if step is not None else (),
            name=name,
            how=how,
            other=step,
            function=function_name(machine),
            requires_grad=grad,
        )
        nodes = [each for _, each in found.grad_fn] if isinstance(found, Tensor) else []
        self.pending.add(event, valid=lambda: not any(map(_is_differentiated, nodes)))

    # -- what it is

    def _requires_grad(self, value: Value | None) -> Truth:
        if isinstance(value, Unknown):
            if value.foreign:
                return Truth.NO
            return Truth.MAYBE if value.tensor is None else value.tensor.requires_grad.truth()
        if isinstance(value, Tensor):
            return value.requires_grad.truth() if value.grad_fn else Truth.NO
        return Truth.MAYBE if isinstance(value, Choice) or value is None else Truth.NO

    def _criterion(self, value: ir.Expression | None) -> bool | None:
        """
        Whether an expression is what a criterion gives, or made of that; None where a call in it may be there for what
        it does beside.
        """
        found = False
        pending: list[ir.Node | None] = [value]
        while pending:
            node = pending.pop()
            if isinstance(node, ir.Binary):
                pending += [node.left, node.right]
            elif isinstance(node, (ir.Unary, ir.Subscript)):
                pending.append(node.operand if isinstance(node, ir.Unary) else node.value)
            elif isinstance(node, ir.Call):
                function = node.function
                if isinstance(function, ir.Attribute) and not dotted(function):
                    pending.append(function.value)  # `criterion(a, b).mean()`
                    continue
                called = self._is_criterion(function)
                if called is None:
                    return None
                found = found or called
        return found

    def _is_criterion(self, function: ir.Expression) -> bool | None:
        """Whether a criterion is called; None for what may do something beside."""
        text = dotted(function)
        last = text.rpartition(".")[2]
        layer = self._layer(text.split("."))
        if layer is not None:
            return losses.find(f"torch.nn.{layer.kind.name}") is not None
        defined = [
            each
            for each in ir.everything(self.machine.program.body)
            if isinstance(each, ir.FunctionDef) and each.name == last
        ]
        if defined:
            return True if all(_does_nothing_beside(each) for each in defined) and is_called_loss(last) else None
        if losses.find(last) is not None or losses.find(f"torch.nn.{last}") is not None:
            return True
        if isinstance(function, ir.Call):  # `nn.MSELoss()(a, b)`
            return self._is_criterion(function.function)
        if _CRITERION.match(last):
            return True
        return False if _is_plain(text) else None

    def _layer(self, path: list[str]) -> Module | None:
        """The layer of torch that a name, or an attribute of an object, stands for."""
        frame: Frame | None = self.machine.frame
        while frame is not None and path[0] not in frame.variables:
            frame = frame.enclosing
        value = only(frame.variables[path[0]], self.machine) if frame is not None else None
        for part in path[1:]:
            held = value.attributes.get(part) if isinstance(value, Instance) else None
            value = only(held, self.machine) if held is not None else None
        return value if isinstance(value, Module) and not value.kind.container else None

    # -- that nothing reads it

    def _dropped(
        self, node: ir.Assign, name: str
    ) -> tuple[Literal["overwritten", "unread", "iterations"], ir.Node | None] | None:
        machine = self.machine
        definition = machine.stack[-1].definition if machine.stack else None
        if definition is not None and not isinstance(definition, ir.FunctionDef):
            return None
        body = definition.body if isinstance(definition, ir.FunctionDef) else machine.program.body
        if definition is not None and definition.is_generator:
            return None
        block = next((each for each in _blocks(body) if any(one is node for one in each)), None)
        if block is None:
            return None
        if may_be_read(body, node, name):
            other = _after_the_loop(body, block, node, name)
            return ("iterations", other) if other is not None else None
        index = next(number for number, each in enumerate(block) if each is node)
        later = next((each for each in block[index + 1 :] if _binds(each, name)), None)
        if later is not None:
            goes_on = (
                isinstance(later, ir.Assign) and later.value is not None and not isinstance(later.value, ir.Constant)
            )
            if goes_on and isinstance(later, ir.Assign) and may_be_read(body, later, name):
                return "overwritten", later
            return None
        if reads(body, name) or (definition is not None and _is_commented_out(definition, name)):
            return None
        for each in _own(body):
            if isinstance(each, ir.Call) and _differentiates(each):
                return "unread", each
        returned = [each for each in _own(body) if isinstance(each, ir.Return) and each.value is not None]
        if any(isinstance(one, ir.Name) and is_called_loss(one.id) for each in returned for one in ir.walk(each)):
            return "unread", returned[-1]
        return None


def _is_commented_out(definition: ir.Node, name: str) -> bool:
    """Whether a sum of losses beside this one stands in a comment: somebody has taken it out, and knows it."""
    return re.search(rf"#[^\n]*[=+][^\n]*\b{re.escape(name)}\b", written(definition.origin)) is not None


def _is_differentiated(node: GraphNode, depth: int = 0) -> bool:
    """Whether a backward came to a loss, or to all of those that it is the sum of (a total that is only shown)."""
    if node.releases:
        return True
    below = [each for _, each in node.edges if isinstance(each, GraphNode)]
    return (
        depth < _MOST_TERMS
        and node.op in _COMBINING
        and bool(below)
        and all(_is_differentiated(each, depth + 1) for each in below)
    )


def _calls_loss(value: ir.Expression | None) -> bool:
    """Whether a value is the result of a call of what says that it is a loss."""
    return isinstance(value, ir.Call) and is_called_loss(last_word(value.function))


def _blocks(body: list[ir.Statement]) -> Iterator[list[ir.Statement]]:
    """The blocks of a scope."""
    pending = [body]
    while pending:
        block = pending.pop()
        yield block
        for each in block:
            pending += ir.blocks(each)


def _own(body: list[ir.Statement]) -> Iterator[ir.Node]:
    """What stands in a scope, less its functions and classes."""
    for block in _blocks(body):
        for statement in block:
            if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
                continue
            inner = {id(each) for part in ir.blocks(statement) for each in part}
            pending: list[ir.Node] = [statement]
            while pending:
                node = pending.pop()
                yield node
                for part in ir.parts(type(node)):
                    held = getattr(node, part)
                    for each in held if isinstance(held, list) else [held]:
                        if isinstance(each, ir.Node) and id(each) not in inner and not isinstance(each, ir.Lambda):
                            pending.append(each)


def _binds(statement: ir.Statement, name: str) -> bool:
    return isinstance(statement, ir.Assign) and any(isinstance(e, ir.Name) and e.id == name for e in statement.targets)


def _differentiates(call: ir.Call) -> bool:
    last = dotted(call.function).rpartition(".")[2] or (
        call.function.attr if isinstance(call.function, ir.Attribute) else ""
    )
    return last in ("backward", "manual_backward") or dotted(call.function).endswith("autograd.grad")


def _after_the_loop(body: list[ir.Statement], block: list[ir.Statement], node: ir.Assign, name: str) -> ir.Node | None:
    """
    The backward that starts at what the last iteration of a loop has bound, where each iteration has a loss of its own:
    of what it goes over, and of nothing that an earlier one has left.
    """
    loop = next((e for each in _blocks(body) for e in each if isinstance(e, ir.For) and e.body is block), None)
    if loop is None or reads(loop.body, name) or loop.orelse or node.value is None:
        return None
    if any(isinstance(each, (ir.Break, ir.Return, ir.Yield, ir.Raise)) for each in ir.walk(loop.body)):
        return None
    if sum(_binds(each, name) for each in ir.everything(loop.body)) != 1:
        return None
    targets = {each.id for each in ir.walk(loop.target) if isinstance(each, ir.Name)}
    behind = _behind(loop.body, node.value)
    if not behind & targets or behind & set(read_before_set(loop.body)):
        return None
    around = next(each for each in _blocks(body) if any(one is loop for one in each))
    index = next(number for number, each in enumerate(around) if each is loop)
    for statement in around[index + 1 :]:
        if _binds(statement, name) or ir.blocks(statement):
            return None
        calls = [each for each in ir.walk(statement) if isinstance(each, ir.Call) and _differentiates(each)]
        if calls:
            return calls[0] if reads(calls[0], name) else None
        if reads(statement, name):
            return None
    return None


def _behind(body: list[ir.Statement], value: ir.Expression) -> set[str]:
    """The names that an expression rests on, through the assignments of a block."""
    found = {each.id for each in ir.walk(value) if isinstance(each, ir.Name)}
    for _ in range(len(body)):
        size = len(found)
        for each in ir.everything(body):
            if isinstance(each, (ir.Assign, ir.AugmentedAssign)) and each.value is not None:
                targets = each.targets if isinstance(each, ir.Assign) else [each.target]
                names = {one.id for target in targets for one in ir.walk(target) if isinstance(one, ir.Name)}
                if names & found:
                    found |= {one.id for one in ir.walk(each.value) if isinstance(one, ir.Name)}
        if len(found) == size:
            break
    return found


def _is_plain(text: str) -> bool:
    """Whether a function is torch's or Python's, or a method that tensors have, by the look of its name."""
    first, _, rest = text.partition(".")
    if not rest:
        return first in ("sum", "abs", "max", "min", "float")
    return first in ("torch", "F", "math") or bool(ops.find(f"torch.Tensor.{rest.rpartition('.')[2]}"))


def _does_nothing_beside(definition: ir.FunctionDef) -> bool:
    """Whether a function only computes: no statement calls, stores or differentiates."""
    for each in ir.walk(definition.body):
        if isinstance(each, ir.ExpressionStatement) and not isinstance(each.value, ir.Constant):
            return False
        if isinstance(each, ir.Assign) and any(isinstance(one, (ir.Attribute, ir.Subscript)) for one in each.targets):
            return False
        if isinstance(each, (ir.AugmentedAssign, ir.Scope, ir.With, ir.Delete, ir.Yield)) and not (
            isinstance(each, ir.AugmentedAssign) and isinstance(each.target, ir.Name)
        ):
            return False
        if isinstance(each, ir.Call) and _differentiates(each):
            return False
    return True
