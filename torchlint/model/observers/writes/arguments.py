"""
Functions that write in place into what their caller passed, and callers that go on with it.

Says who writes what and who reads it afterwards; does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.model.events.trace import Step
from torchlint.model.events.writes import ArgumentWritten
from torchlint.model.observers.pending import PendingEvents, only
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import NONE, Constant, Function, Tensor, Unknown, Value, Write
from torchlint.syntax import cst, ir
from torchlint.syntax.features import WRITING

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

_FORM = frozenset(
    {"shape", "size", "dim", "ndim", "ndimension", "numel", "nelement", "dtype", "device", "layout", "is_cuda",
     "requires_grad", "stride", "is_contiguous", "new_zeros", "new_ones", "new_empty", "new_full"}
)  # fmt: skip
"""What is asked of a tensor without its values."""
_TO_BE_FILLED = frozenset({"zeros", "empty", "zeros_like", "empty_like", "new_zeros", "new_empty"})
"""Whoever makes such a tensor and hands it on wants it filled: sums, counts, an output."""


@dataclass(slots=True, eq=False)
class _Running:
    """A running function and the tensors it was given, by parameter and the name the caller has for them."""

    function: Function
    given: list[tuple[str, Tensor, str]]
    inlined: bool
    switched: bool


@dataclass(slots=True, eq=False)
class _Modified:
    """A write into an argument."""

    running: _Running
    parameter: str
    tensor: Tensor
    name: str
    write: Write
    guard: Guard
    returned: bool = False
    fresh: bool = True


class Arguments(Observer):
    """Watches functions of the file and the tensors they are given."""

    concerns = (WRITING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._stack: list[_Running] = []
        self._modified: list[_Modified] = []
        self._names: dict[int, str] = {}
        self._entry = False

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._stack.clear()
        self._modified.clear()
        self._names.clear()
        self._entry = function is not None

    def concluded(self) -> None:
        self.pending.flush()
        self._stack.clear()
        self._modified.clear()

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        given = []
        # A recursive function that writes what it was given works on a state of its own.
        switched = function.definition in [running.function.definition for running in self._stack]
        for name, value in arguments.items():
            tensor = only(value, self.machine)
            if isinstance(tensor, Unknown):
                tensor = tensor.tensor
            if isinstance(tensor, Tensor):
                given.append((name, tensor, self._names.get(id(tensor), "")))
            elif name.startswith(("inplace", "in_place")):
                switched = True
        inlined = bool(self._stack) or not self._entry
        self._stack.append(_Running(function, given, inlined, switched))

    def wrote(self, tensor: Tensor, write: Write) -> None:
        # what is given as `out=` is there to be written
        if not self._stack or write.spelling in ("optimizer", "backward", "out") or self.machine.grad_mode is Truth.NO:
            return
        running = self._stack[-1]
        if running.switched or self.machine.expected_errors:
            return
        for parameter, given, name in running.given:
            if tensor.family is given.family and given.grad_of is None and given.made_by not in _TO_BE_FILLED:
                guard = self.machine.guard
                self._modified.append(_Modified(running, parameter, given, name, write, guard))

    def function_ended(self, function: Function, result: Value) -> None:
        if not self._stack:
            return
        running = self._stack.pop()
        mine = [each for each in self._modified if each.running is running]
        gives = result != NONE and not isinstance(result, Constant)
        told: list[Tensor] = []
        for each in mine:
            each.returned = True
            if not running.inlined or not gives or not each.name:
                self._modified.remove(each)
                if not running.inlined and not any(each.tensor is tensor for tensor in told):
                    told.append(each.tensor)
                    self._tell(each, None, "")

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        """A call for its effect: what it writes is what it is for."""
        self._modified = [each for each in self._modified if not each.returned or not each.fresh]

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        for each in list(self._modified):
            if each.returned:
                if each.name == name:
                    self._modified.remove(each)
                each.fresh = False

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        if type(value) is not Tensor:
            return
        self._names[id(value)] = name
        if not self._modified or self._asks_form(origin):
            return
        for each in list(self._modified):
            if each.returned and not each.fresh and each.tensor is value and each.name == name:
                self._modified = [other for other in self._modified if other.tensor is not value]
                self._tell(each, Step(origin.origin, f"`{name}` is read here, modified"), name)
                return

    def _asks_form(self, origin: ir.Node) -> bool:
        """Whether a name is read for its shape, kind or place, which no write changes; or for what nobody knows."""
        statement = self.machine.statement
        return statement is not None and any(_is_of_form(each, origin) for each in ir.walk(statement))

    def _tell(self, each: _Modified, read: Step | None, name: str) -> None:
        write = each.write
        wrote = Step(write.origin.origin, f"`{write.op}` overwrites `{each.parameter}`")
        event = ArgumentWritten(
            node=_place(write),
            statement=write.line,
            trace=(wrote, read) if read is not None else (),
            function=each.running.function.name,
            parameter=each.parameter,
            op=write.op,
            read=read,
            read_name=name,
        )
        self.pending.add(event, each.guard)


def _is_of_form(node: ir.Node, read: ir.Node) -> bool:
    """`x.shape`, `getattr(x, "shape")`, `getattr(x, name)`."""
    if isinstance(node, ir.Attribute):
        return node.value is read and node.attr in _FORM
    if not isinstance(node, ir.Call) or not isinstance(node.function, ir.Name) or node.function.id != "getattr":
        return False
    given = [each.value for each in node.arguments]
    named = given[1] if len(given) > 1 and given[0] is read else None
    return named is not None and not (isinstance(named, ir.Constant) and named.value not in _FORM)


def _place(write: Write) -> cst.CSTNode:
    return write.origin.origin
