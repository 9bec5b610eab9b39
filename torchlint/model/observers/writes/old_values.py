"""
Values that are read after an in-place write, through a name or a container that holds the tensor from before it.

Torch raises only where an operation has saved the old value. A sum saves nothing: `x + self.block(x)` with a block that
begins with `nn.ReLU(inplace=True)` adds to `relu(x)`, without a word. Whether the new value is meant is seen from how
the write is written: a statement of its own, or `x = relu_(x)`, means the name that it is given; a result that goes on
under another name does not. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from torchlint.model.events import SavedTensorRead
from torchlint.model.events.trace import Step
from torchlint.model.events.writes import OldValueRead
from torchlint.model.observers.pending import PendingEvents, only
from torchlint.model.observers.writes.holders import Holders
from torchlint.model.observers.writes.kept_tensors import KeptTensors
from torchlint.model.observers.writes.spellings import asks_form, bare, goes_on, root, spelling_of
from torchlint.model.state.guards import Guard, Truth, conjoin
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Constant,
    Frame,
    Function,
    Instance,
    Module,
    Scalar,
    Tensor,
    Unknown,
    Value,
    Write,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import WRITING, anywhere
from torchlint.syntax.spelling import indices, integer

_REPEATABLE = {
    "relu": frozenset({"relu", "relu6"}),
    "relu6": frozenset({"relu6"}),
    "hardtanh": frozenset({"hardtanh"}),
}
"""What gives the same numbers whether or not it has been run before."""
_LINEAR_ABOVE_ZERO = frozenset({"relu", "leaky_relu", "rrelu", "elu", "celu"})
_NOT_NEGATIVE = frozenset(
    {"relu", "relu6", "sigmoid", "softmax", "softplus", "exp", "abs", "square", "hardsigmoid", "rand", "rand_like",
     "zeros", "ones", "zeros_like", "ones_like", "norm"}
)  # fmt: skip
_KEEP_SIGN = frozenset(
    {"max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d",
     "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
     "view", "reshape", "flatten", "permute", "transpose", "contiguous", "clone", "detach", "chunk", "split", "narrow",
     "select", "cat", "concat", "stack", "dropout", "dropout2d", "mean", "sum", "sqrt", "unsqueeze", "squeeze",
     "__getitem__", "index_select", "maximum", "unbind", "pixel_shuffle", "to"}
)  # fmt: skip
"""What gives no negative number if it is given none."""
_OF_TWO = frozenset({"add", "mul", "__add__", "__mul__"})
"""The same, of two tensors: a number may be less than zero."""
_OVERWRITE = frozenset({"zero_", "fill_", "copy_", "normal_", "uniform_", "random_", "bernoulli_", "set_"})
_DEEP = 12


@dataclass(slots=True, eq=False)
class _Overwritten:
    """A write, and the names of the running function that held the tensor before it and are not bound anew since."""

    write: Write
    op: str
    frame: Frame
    how: Literal["argument", "name"]
    given: str
    """The name that the write is given; "" if it is given something else."""
    names: dict[str, Tensor]
    event: OldValueRead
    found: list[tuple[OldValueRead, Guard]] = field(default_factory=list)
    """Of a second name: what is told once the first one is read as well."""
    is_read: bool = False
    """The first one was."""


@dataclass(slots=True, eq=False)
class _Reading:
    """Such a name stands in a statement that runs."""

    overwritten: _Overwritten
    name: str
    origin: ir.Node


class OldValues(Observer):
    """Watches writes in place, and what held the old value."""

    concerns = (WRITING, anywhere("append", "step"))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self.kept = KeptTensors(machine, self.pending)
        self._holders = Holders(machine.trail)
        self._overwritten: list[_Overwritten] = []
        self._readings: list[_Reading] = []
        self._given: dict[int, dict[str, ir.Assign]] = {}
        """By the frame: its names that a statement gave what another name or a call gives: second names, perhaps."""
        self._built: dict[int, cst.Call] = {}

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._forget()

    def concluded(self) -> None:
        self.pending.flush()
        self._forget()

    def finished(self) -> None:
        self._built.clear()

    def _forget(self) -> None:
        self._holders.forget()
        self._overwritten.clear()
        self._readings.clear()
        self._given.clear()
        self.kept.forget()

    # -- what is written

    def wrote(self, tensor: Tensor, write: Write) -> None:
        machine = self.machine
        if write.foreign_call is not None or machine.expected_errors or write.spelling == "backward":
            return
        self.kept.wrote(tensor, write)
        op = bare(write.op)
        statement = machine.statement
        if write.spelling in ("optimizer", "out") or statement is None or _keeps_values(tensor, op):
            return
        given = root(write, machine.frame)
        how: Literal["argument", "name"] = "argument" if goes_on(write, statement, machine.frame) else "name"
        if how == "name" and not given:
            return
        names: dict[str, Tensor] = {}
        variables = machine.frame.variables
        # most: only a second name of the tensor itself counts
        for name in variables if how == "argument" else self._second_names(tensor, machine.frame):
            value = variables.get(name)
            held = value.tensor if isinstance(value, Unknown) else value
            if how == "name" and (held is not tensor or name == given):
                continue
            if not isinstance(held, Tensor) or held.storage is not tensor.storage or _are_apart(held, tensor):
                continue
            second = name != given and held is tensor and self._is_second_name(name, tensor)
            if how == "name" and not second:
                continue
            if tensor.view == "multi" and name != given and not second:
                continue  # one of several parts that do not overlap: one tensor may stand for all of them
            names[name] = held
        if not names:
            return
        event = OldValueRead(
            node=write.origin.origin,
            statement=write.line,
            op=write.op,
            spelling=spelling_of(write, machine.frame),
            target=machine.facts(tensor, write.name),
            target_node=write.target_node,
            target_is_view=Truth.of(tensor.base is not None),
            grad_mode=write.grad_mode,
            how=how,
            name="",
            read=Step(write.origin.origin, ""),
        )
        self._overwritten.append(_Overwritten(write, op, machine.frame, how, given, names, event))

    def _second_names(self, tensor: Tensor, frame: Frame) -> list[str]:
        """The names that perhaps hold a tensor, of those that a statement gave what another one or a call gives."""
        given = self._given.get(id(frame))
        return [name for name in self._holders.of(tensor, frame.variables) if name in given] if given else []

    def _is_second_name(self, name: str, tensor: Tensor) -> bool:
        """Whether a name was given a tensor that had one: `old = x`, or what a layer without effect gives back."""
        node = self._given.get(id(self.machine.frame), {}).get(name)
        if node is None or isinstance(node.value, ir.Name):
            return node is not None
        return not any(each.line is node.line for each in tensor.storage.writes)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if isinstance(result, Module) and isinstance(origin.origin, cst.Call):
            self._built[id(result.origin)] = origin.origin

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if not isinstance(module, Module) or module.kind.container or not (self._overwritten or self.kept.waiting):
            return
        if not module.kind.inplace(module.config):
            return
        layer = self._built.get(id(module.origin))
        last = self._overwritten[-1] if self._overwritten else None
        if last is not None and last.write.origin is origin and last.event.layer is None:
            last.event = replace(last.event, layer=layer)
        self.kept.made_by(origin, layer)

    # -- names

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        frame = self.machine.frame
        if isinstance(node, ir.Assign) and _may_give_second_name(node):
            self._given.setdefault(id(frame), {})[name] = node
        elif id(frame) in self._given:
            self._given[id(frame)].pop(name, None)
        for each in self._overwritten:
            if each.frame is frame:
                each.names.pop(name, None)
        self.kept.bound(name, value, node)

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        if self.kept.waiting:
            self.kept.read(name, value, origin)
        if not self._overwritten:
            return
        frame = self.machine.frame
        for each in self._overwritten:
            if each.frame is not frame:
                continue
            if name == each.given and not each.is_read:
                each.is_read = True
                for event, guard in each.found:
                    self._add(each, event, guard)
            held = each.names.get(name)
            if held is not None and self._is(value, held) and not asks_form(self.machine.statement, origin):
                self._readings.append(_Reading(each, name, origin))

    def _is(self, value: Value, held: Tensor) -> bool:
        found = only(value, self.machine)
        return (found.tensor if isinstance(found, Unknown) else found) is held

    def ran(self, statement: ir.Statement) -> None:
        self.kept.ran(statement)
        if self._readings:
            frame = self.machine.frame
            self._readings = [each for each in self._readings if each.overwritten.frame is not frame]

    def function_ended(self, function: Function, result: Value) -> None:
        if self._readings:
            self._readings.clear()

    # -- who reads the values

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        if self.kept.elements:
            self.kept.met(bound, origin)
        if not self._overwritten:
            return
        op = bare(spelling.rpartition(".")[2])
        if isinstance(origin, ir.Binary):
            self._operands(origin)
        if not self._readings:
            return
        if isinstance(origin, ir.Compare) and any(isinstance(value, (Constant, Scalar)) for value in bound.values()):
            return  # above and below a number are mostly the same elements as before
        given = [tensor for value in bound.values() for tensor in reachable_tensors(value)]
        for reading in list(self._readings):
            each = reading.overwritten
            held = each.names.get(reading.name)
            if held is None or not any(held is tensor for tensor in given):
                continue
            if op in _REPEATABLE.get(each.op, ()) or (spelling.rpartition(".")[2] in _OVERWRITE):
                self._readings.remove(reading)  # it goes on with what that gives
                continue
            if self.machine.clock < each.write.time or origin is each.write.origin:
                continue
            self._readings.remove(reading)
            self._tell(each, reading.name, reading.origin)

    def _operands(self, origin: ir.Binary) -> None:
        """`x + block(x)`: the name is read first, and its values only after the write."""
        frame, known = self.machine.frame, [each.origin for each in self._readings]
        for operand in (origin.left, origin.right):
            if not isinstance(operand, ir.Name) or any(operand is each for each in known):
                continue
            for each in self._overwritten:
                held = each.names.get(operand.id) if each.frame is frame else None
                if held is not None and self._is(frame.variables.get(operand.id, Unknown()), held):
                    self._readings.append(_Reading(each, operand.id, operand))

    def returned(self, value: Value, node: cst.CSTNode) -> None:
        frame = self.machine.frame
        statement = self.machine.statement
        alone = isinstance(statement, ir.Return) and isinstance(statement.value, ir.Name)
        for reading in list(self._readings):
            each = reading.overwritten
            if each.frame is not frame:
                continue
            self._readings.remove(reading)
            held = each.names.get(reading.name)
            if not alone and any(held is tensor for tensor in reachable_tensors(value)):
                self._tell(each, reading.name, reading.origin)

    def _tell(self, each: _Overwritten, name: str, origin: ir.Node) -> None:
        machine = self.machine
        write = each.write
        if conjoin(write.path, write.assumed, machine.path, machine.assumed) is None:
            return
        node = origin.origin
        read = Step(node, f"`{name}` is read here")
        trace = (Step(write.origin.origin, f"`{write.op}` overwrites it"), read)
        event = replace(each.event, name=name, read=read, trace=trace)
        if each.how == "name" and not each.is_read:
            each.found.append((event, machine.guard))
        else:
            self._add(each, event, machine.guard)

    def _add(self, each: _Overwritten, event: OldValueRead, guard: Guard) -> None:
        write = each.write
        # a dropout writes only in training, where its numbers matter
        seen = (write.path if each.op.endswith("dropout") else write.path | write.assumed, guard)
        self.pending.add(event, *seen, valid=partial(self._is_quiet, event.node))

    def _is_quiet(self, place: cst.CSTNode) -> bool:
        """Whether torch says nothing of the write."""
        return not any(isinstance(event, SavedTensorRead) and event.node is place for event in self.machine.events)


def _may_give_second_name(node: ir.Assign) -> bool:
    one = len(node.targets) == 1 and isinstance(node.targets[0], ir.Name)
    return one and isinstance(node.value, (ir.Name, ir.Call))


def _are_apart(one: Tensor, other: Tensor) -> bool:
    """Whether two views are parts of one tensor that a number in their indices keeps apart: `h[:, 0]` and `h[:, 1]`."""
    if not isinstance(one.origin, ir.Subscript) or not isinstance(other.origin, ir.Subscript):
        return False
    if not one.inputs or not other.inputs or one.inputs[0] is not other.inputs[0]:
        return False
    for mine, its in zip(indices(one.origin), indices(other.origin), strict=False):
        first, second = integer(mine), integer(its)
        if first is not None and second is not None:
            if first != second:
                return True  # or, from the front and from the back, the same of few
        elif not isinstance(mine, ir.Slice) or not isinstance(its, ir.Slice):
            constant = isinstance(mine, ir.Constant) and isinstance(its, ir.Constant) and mine.value is its.value
            if not constant:
                return False  # what follows may be about other dimensions
    return False


def _keeps_values(tensor: Tensor, op: str) -> bool:
    """Whether a write leaves the numbers as they are: a `relu` of what has no negative one."""
    return op in _LINEAR_ABOVE_ZERO and _has_no_negative(tensor, _DEEP)


def _has_no_negative(tensor: Tensor, depth: int) -> bool:
    earlier = tensor.storage.writes[:-1]
    if earlier:
        return bare(earlier[-1].op) in _NOT_NEGATIVE and earlier[-1].index == "" and earlier[-1].path == frozenset()
    made = tensor.op.rpartition(".")[2] or tensor.made_by
    if made in _NOT_NEGATIVE:
        return True
    known = depth > 0 and len(tensor.inputs) >= (1 if made in _KEEP_SIGN else 2 if made in _OF_TWO else _DEEP)
    return known and all(_has_no_negative(each, depth - 1) for each in tensor.inputs)
