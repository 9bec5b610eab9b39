"""
Iterators over parameters that are gone through twice: the second time they give nothing.

`Module.parameters` is a generator function (torch/nn/modules/module.py), and `filter`, `map`, `zip`, `itertools.chain`
and generator expressions are iterators as well: an optimizer, a loop or a sum takes all there is. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.model.events import Event
from torchlint.model.events.registration import IteratorUsedUp
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import PendingEvents, expression
from torchlint.model.observers.registration.optimizing import uses_up
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Mapping, Optimizer, Sequence, Tensor, Unknown, Value, alternatives
from torchlint.syntax import cst, ir
from torchlint.syntax.features import one_of
from torchlint.syntax.spelling import dotted

_TAKE_ALL = frozenset(
    {
        "torch.nn.utils.clip_grad_norm_",
        "torch.nn.utils.clip_grad_value_",
        "torch.nn.utils.parameters_to_vector",
        "torch.nn.utils.vector_to_parameters",
    }
)


@dataclass(slots=True, eq=False)
class _Pass:
    """One time that an iterator was gone through: where, in which iteration, on which path."""

    iterator: Sequence
    place: cst.CSTNode
    step: Step
    iteration: tuple[int, ...]
    path: Guard


class Iterators(Observer):
    """Watches iterators over parameters."""

    words = ("parameters(",)
    concerns = (one_of({"parameters", "named_parameters"}),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._passes: list[_Pass] = []
        self._reads: dict[int, tuple[str, ir.Node]] = {}

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        self.pending.flush()
        self._passes.clear()
        self._reads.clear()

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        for _, each in alternatives(value):
            if isinstance(each, Sequence) and each.kind == "generator":
                self._reads[id(each)] = (name, origin)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        self.name_read(dotted(origin), value, origin)

    def iterated(self, value: Value) -> None:
        if isinstance(value, Sequence) and value.kind == "generator" and self._reads and _is_of_parameters(value):
            line = self.machine.line()
            self._gone_through(value, line, Step(line, "the iterator is used up here"))

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified in _TAKE_ALL:
            for each in positional:
                self.iterated(each)

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        if isinstance(parameters, Sequence) and parameters.kind == "generator" and _is_of_parameters(parameters):
            name = dotted(origin.function).rpartition(".")[2]
            step = Step(origin.origin, f"`{name}` uses up the iterator here")
            self._passes.append(_Pass(parameters, origin.origin, step, self.machine.iteration, self.machine.guard))
        groups = parameters.items or () if isinstance(parameters, Sequence) else ()
        for each in groups:
            inner = (each.items or {}).get("params") if isinstance(each, Mapping) else None
            if isinstance(inner, Sequence):
                self.iterated(inner)

    def _gone_through(self, value: Sequence, line: cst.CSTNode, step: Step) -> None:
        machine = self.machine
        found = self._reads.get(id(value))
        if found is None or machine.foreign_call is not None or not uses_up(line):
            return
        name, origin = found
        node = expression(origin)
        before = next((each for each in self._passes if each.iterator is value and self._is_before(each, line)), None)
        if before is None:
            self._passes.append(_Pass(value, line, step, machine.iteration, machine.guard))
        elif node is not None:
            event: Event = IteratorUsedUp(
                node=node,
                statement=line,
                trace=(before.step,),
                name=name,
                again=before.place is line,
            )
            self.pending.add(event, before.path)

    def _is_before(self, each: _Pass, line: cst.CSTNode) -> bool:
        """Whether a pass was certainly over before the one at this line: not a second look of the model at one pass."""
        return each.path <= self.machine.path and (each.place is not line or each.iteration != self.machine.iteration)


def _is_of_parameters(value: Sequence) -> bool:
    """Whether an iterator certainly is one, and gives parameters; `parameters()` of who knows what may be a list."""
    every = list(value.items or (value.element,))
    of = [part for each in every for part in (_parts(each) if each is not None else ())]
    if value.items is None and value.parameters_of:
        return any(isinstance(each, Unknown) and each.part_of is not None for each in of)
    return any(
        each.is_parameter is Truth.YES if isinstance(each, Tensor) else bool(each.element_of_parameters)
        for each in of
        if isinstance(each, (Tensor, Unknown))
    )


def _parts(value: Value) -> list[Value]:
    """What an iterator gives in one round, the parts of a tuple one by one."""
    if isinstance(value, Sequence):
        return list(value.items or ())
    return [each for _, each in alternatives(value)]
