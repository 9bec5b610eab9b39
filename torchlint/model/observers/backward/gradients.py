"""
Gradients over several passes: `.grad` read between them, and kept across them.

Follows `torch/csrc/autograd/functions/accumulate_grad.h`: a second backward adds in place to the tensor in `.grad`,
which whoever kept it holds, too. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.model.events import BackwardCallee, FreedGraphRead
from torchlint.model.events.gradients import KeptGradientWritten, SumOfGradientsRead
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import PendingEvents, argument, expression, only
from torchlint.model.state.guards import Guard, conjoin
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import (
    Function,
    GraphNode,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    Write,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.spelling import dotted

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine


@dataclass(slots=True, eq=False)
class _Passes:
    """What happened to the gradient of a leaf since it was last reset."""

    leaf: Tensor
    first: Step
    first_origin: ir.Node
    guard: Guard
    read: Step | None = None
    read_node: ir.Node | None = None
    second: Step | None = None
    repeated: bool = False
    copies: list[Tensor] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Candidate:
    """A second read, until it turns out to be no use of the sum."""

    node: ir.Node
    passes: _Passes
    cancelled: bool = False


class Accumulation(Observer):
    """Watches reads of `.grad` between backwards."""

    words = (".grad",)
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._passes: dict[int, _Passes] = {}
        self._candidates: list[_Candidate] = []
        self._stepped = False

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._passes.clear()
        self._candidates.clear()
        self._stepped = False

    def concluded(self) -> None:
        if not self._stepped:
            self.pending.flush()
        self.pending.start(False)
        self._passes.clear()
        self._candidates.clear()

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
        if inputs is not None:
            return
        guard = self.machine.guard
        for leaf in {id(each): each for each in leaves}.values():
            step = Step(
                origin.origin, f"this backward adds to `{leaf.name}.grad`" if leaf.name else "a backward adds to it"
            )
            known = self._passes.get(id(leaf))
            if known is None or known.read is None or conjoin(known.guard, guard) is None:
                self._passes[id(leaf)] = _Passes(leaf, step, origin, guard)
            else:
                known.second, known.repeated = step, known.first_origin is origin
                known.guard = known.guard | guard

    def _only_tested(self, origin: ir.Node) -> bool:
        """Whether an expression is only compared with None in the running statement."""
        statement = self.machine.statement
        assert statement is not None
        where = statement.test if isinstance(statement, (ir.If, ir.While)) else statement
        return any(
            isinstance(part, ir.Compare) and part.left is origin and part.ops[0] in ("is", "is not")
            for part in ir.walk(where)
        )

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        leaf = only(owner, self.machine)
        known = self._passes.get(id(leaf)) if name == "grad" else None
        node = expression(origin)
        if known is None or node is None or (self.machine.foreign_call is None and self._only_tested(origin)):
            return
        label = dotted(origin.value) if isinstance(origin, ir.Attribute) else ""
        if known.second is None:
            if known.read is None:
                known.read = Step(node, f"`{label or known.leaf.name}.grad` is read here")
                known.read_node = origin
                known.guard = known.guard | self.machine.guard
            return
        candidate = _Candidate(origin, known)
        self._candidates.append(candidate)
        assert known.read is not None
        event = SumOfGradientsRead(
            node=node,
            statement=self.machine.line(),
            trace=(known.first, known.read, known.second) if not known.repeated else (known.first, known.read),
            owner=self.machine.facts(known.leaf, label),
            first_read=known.read,
            first=known.first,
            second=known.second,
            repeated=known.repeated,
        )
        second = known.second.node
        self.pending.add(event, known.guard, valid=lambda: not candidate.cancelled and not self._raises(second))
        self._passes.pop(id(leaf))

    def _raises(self, backward: cst.CSTNode) -> bool:
        return any(isinstance(event, FreedGraphRead) and event.node is backward for event in self.machine.events)

    # -- what makes a sum wanted, or no sum

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        function = origin.function
        if isinstance(receiver, Tensor) and isinstance(function, ir.Attribute) and name in ("clone", "detach", "cpu"):
            for known in self._passes.values():
                if known.read_node is function.value and isinstance(result, Tensor):
                    known.copies.append(result)
        if name in ("zero_", "fill_", "copy_"):
            self._cancel_inside(function)
        if isinstance(receiver, Tensor) and receiver.grad_of is not None and (name.endswith("_") or name == "numpy"):
            self._forget(receiver.grad_of)
        if result is None or not isinstance(receiver, Tensor):
            self._unknown(positional, keywords)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        sets = qualified in ("builtins.setattr", "builtins.delattr") or qualified.startswith("torch._foreach_")
        if sets or not qualified.startswith(("torch.", "builtins.", "numpy.")):
            self._unknown(positional, keywords)
            for value in (*positional, *keywords.values()):
                for tensor in reachable_tensors(value):
                    if tensor.grad_of is not None:
                        self._forget(tensor.grad_of)

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        self._set_off(list(bound.values()))

    def compared(self, op: str, left: Value, right: Value, origin: ir.Node) -> None:
        self._set_off([left, right])

    def _set_off(self, values: list[Value]) -> None:
        """The sum is held against the first gradient (`x.grad - first`): its reader knows that it is a sum."""
        if not self._candidates:
            return
        tensors = [tensor for value in values for tensor in reachable_tensors(value)]
        for candidate in self._candidates:
            leaf, copies = candidate.passes.leaf, candidate.passes.copies
            if any(tensor is leaf.grad or tensor.grad_of is leaf for tensor in tensors) and any(
                _from(tensor, copies) for tensor in tensors
            ):
                candidate.cancelled = True

    def _cancel_inside(self, function: ir.Expression) -> None:
        node: ir.Expression = function
        while isinstance(node, ir.Attribute):
            node = node.value
            for candidate in self._candidates:
                if candidate.node is node:
                    candidate.cancelled = True

    def _unknown(self, positional: list[Value], keywords: dict[str, Value]) -> None:
        for value in (*positional, *keywords.values()):
            for tensor in reachable_tensors(value):
                self._passes.pop(id(tensor), None)

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if write.spelling in ("optimizer", "backward"):
            return
        for known in list(self._passes.values()):
            gradient = only(known.leaf.grad, self.machine)
            if isinstance(gradient, Tensor) and gradient.storage is tensor.storage:
                self._forget(known.leaf)

    def _forget(self, leaf: Tensor) -> None:
        self._passes.pop(id(leaf), None)

    def zeroed(self, owner: Value, origin: ir.Node) -> None:
        if isinstance(owner, Tensor):
            self._forget(owner)
            for candidate in self._candidates:
                if candidate.passes.leaf is owner and any(part is candidate.node for part in ir.walk(origin)):
                    candidate.cancelled = True
        else:
            self._passes.clear()

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if name == "grad":
            for tensor in reachable_tensors(owner):
                self._forget(tensor)

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        self._stepped = True


@dataclass(slots=True, eq=False)
class _Kept:
    """A name under which a gradient is kept."""

    name: str
    gradient: Tensor
    leaf: Tensor
    node: cst.BaseExpression
    statement: cst.CSTNode
    guard: Guard
    written: tuple[str, Step] | None = None


class KeptGradients(Observer):
    """Watches names that stand for `x.grad` itself."""

    words = (".grad",)
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._reads: dict[int, cst.BaseExpression] = {}
        self._kept: list[_Kept] = []

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._kept.clear()
        self._reads.clear()

    def concluded(self) -> None:
        self.pending.flush()
        self._kept.clear()
        self._reads.clear()

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        gradient, node = only(value, self.machine), expression(origin)
        if name == "grad" and isinstance(gradient, Tensor) and node is not None:
            self._reads[id(gradient)] = node

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        self._kept = [each for each in self._kept if each.name != name]
        self._keep(name, value)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if (
            name == "append"
            and isinstance(receiver, Sequence)
            and positional
            and isinstance(origin.function, ir.Attribute)
        ):
            self._keep(dotted(origin.function.value), positional[0])

    def _keep(self, name: str, value: Value) -> None:
        here = only(value, self.machine)
        if here is None or not name:
            return
        for gradient in reachable_tensors(here):
            leaf, node = gradient.grad_of, self._reads.get(id(gradient))
            if leaf is None or node is None or only(leaf.grad, self.machine) is not gradient:
                continue
            guard = self.machine.guard
            self._kept.append(_Kept(name, gradient, leaf, node, self.machine.line(), guard))

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
        if inputs is not None or create_graph is not False:
            return
        for kept in self._kept:
            if any(kept.leaf is leaf for leaf in leaves) and only(kept.leaf.grad, self.machine) is kept.gradient:
                self._write(
                    kept, "a backward accumulates into it", Step(origin.origin, "backward accumulates into it here")
                )

    def wrote(self, tensor: Tensor, write: Write) -> None:
        for kept in self._kept:
            through = write.name.partition("[")[0]
            refreshed = write.op == "copy_"  # a buffer that holds the newest gradient on purpose
            if through == kept.name or refreshed or write.spelling == "optimizer":
                continue
            if kept.gradient.storage is tensor.storage:
                words = f"`{write.op}` overwrites it"
                self._write(kept, words, Step(write.origin.origin, f"{words} here"))

    def zeroed(self, owner: Value, origin: ir.Node) -> None:
        if not isinstance(owner, Optimizer) or not isinstance(origin, ir.Call):
            return
        given = argument(origin, 0, "set_to_none")
        if given is None or not (isinstance(given.value, ir.Constant) and given.value.value is False):
            return
        for kept in self._kept:
            if any(kept.leaf is tensor for tensor in owner.parameters):
                step = Step(origin.origin, "`zero_grad` fills it with zeros here")
                self._write(kept, "`zero_grad` fills it with zeros", step)

    def _write(self, kept: _Kept, words: str, step: Step) -> None:
        guard = self.machine.guard
        if conjoin(kept.guard, guard) is not None and kept.written is None:
            kept.written = (words, step)
            kept.guard = kept.guard | guard

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        for kept in self._kept:
            if kept.written is None or kept.name != name:
                continue
            words, step = kept.written
            read = Step(origin.origin, f"`{name}` is read here")
            event = KeptGradientWritten(
                node=kept.node,
                statement=kept.statement,
                trace=(step, read),
                kept=name,
                owner=self.machine.facts(kept.leaf),
                written=words,
                read=read,
            )
            self.pending.add(event, kept.guard)


def _from(tensor: Tensor, sources: list[Tensor]) -> bool:
    """Whether a tensor is computed from one of these."""
    pending, seen = [tensor], set()
    while pending:
        each = pending.pop()
        if any(each is source for source in sources):
            return True
        if id(each) not in seen:
            seen.add(id(each))
            pending += each.inputs
    return False
