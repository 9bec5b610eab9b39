"""
Writes that autograd's own checks do not see, or refuse for another reason than a saved version: through `.data`, into
expanded memory, between a forward and its backward, and results of in-place methods under a second name.

Follows `torch/csrc/autograd/variable.cpp` (`.data` has a version counter of its own) and `ATen/MemoryOverlap.h`
(internal overlap). Does not judge.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from torchlint.model.autograd.writes import INPLACE_VIEWS
from torchlint.model.events import BackwardCallee, SavedTensorRead
from torchlint.model.events.trace import Step
from torchlint.model.events.writes import (
    DataWritten,
    ExpandedWritten,
    GraphTensorIndexed,
    InplaceResultBound,
    StaleGradient,
)
from torchlint.model.observers.pending import PendingEvents, expression, leaves_used, only
from torchlint.model.state.guards import Guard, Truth, conjoin, implied
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import (
    Frame,
    Function,
    GraphNode,
    Saved,
    Tensor,
    Value,
    Write,
    alternatives,
    reachable_tensors,
)
from torchlint.model.torch.operations import RENORMS
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATING, WRITING
from torchlint.syntax.kinds import place_at
from torchlint.syntax.spelling import dotted, integer
from torchlint.syntax.tree import python_node

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

_EXPANDING: Final = frozenset({"expand", "expand_as", "broadcast_to"})
# Torch lets these pass, and shared elements do not matter: the same value is written everywhere, or is a function of
# the element alone (`threshold_` builds its iterator without the check), or nothing is written (of real numbers).
_HARMLESS = frozenset({"fill_", "zero_", "constant_", "zeros_", "ones_", "threshold_", "conj_physical_"})
# Of numbers that may be ints nothing is written.
_OF_FLOATS = frozenset({"nan_to_num_"})
# Torch lets these pass on shared memory: those of ATen/native/TensorAdvancedIndexing.cpp with a deprecation warning, a
# triangle without a word (TriangularOps.cpp), and torch.nn.init writes these two element by element.
_UNCHECKED = frozenset(
    {"masked_fill_", "index_fill_", "index_put_", "masked_scatter_", "tril_", "triu_", "eye_", "dirac_"}
)


class Expanded(Observer):
    """Watches writes into tensors made by `expand`."""

    concerns = (WRITING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._expanded: dict[int, tuple[Tensor, Truth, ir.Node, str]] = {}
        self._onto_itself: set[int] = set()

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        self.pending.flush()
        self._expanded.clear()
        self._onto_itself.clear()

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        name = spelling.rpartition(".")[2]
        if name == "copy_" and _may_share(bound.get("self"), bound.get("src")):
            self._onto_itself.add(id(self.machine.here(origin)))
        if name not in _EXPANDING:
            return
        source, expanded = only(bound.get("self", result), self.machine), only(result, self.machine)
        if isinstance(source, Tensor) and isinstance(expanded, Tensor) and source is not expanded:
            overlaps = _overlaps(source, expanded, origin if name != "expand_as" else None)
            if overlaps is not Truth.NO:
                self._expanded[id(expanded)] = (expanded, overlaps, origin, name)

    def wrote(self, tensor: Tensor, write: Write) -> None:
        whole = write.spelling != "indexed"
        found = self._expanded.get(id(tensor))
        if found is None and not whole:
            inputs = [each for each in tensor.inputs if each.storage is tensor.storage]
            found = next((self._expanded[id(each)] for each in inputs if id(each) in self._expanded), None)
        op = write.op if write.op.endswith("_") else f"{write.op.partition('(')[0]}_"
        if found is None or op in _HARMLESS or write.spelling in ("optimizer", "backward"):
            return
        expanded, overlaps, origin, name = found
        if op == "as_strided_":
            del self._expanded[id(expanded)]
        if op == "as_strided_" or op[:-1] in INPLACE_VIEWS:  # it gives the tensor another shape, and writes no element
            return
        if op in _OF_FLOATS and expanded.dtype not in ("float", "complex"):
            return
        node = expression(origin)
        if node is None or (not whole and overlaps is not Truth.YES):
            return
        may_be_empty = whole and overlaps is Truth.YES and (expanded.shape is None or None in expanded.shape)
        if may_be_empty:
            overlaps = Truth.MAYBE
        event = ExpandedWritten(
            node=write.origin.origin,
            statement=write.line,
            trace=(
                Step(node, f"`{name}` gives several elements one place in memory"),
                Step(write.origin.origin, f"`{write.op}` writes there"),
            ),
            target=self.machine.facts(expanded, write.name),
            op=write.op,
            expand_node=node,
            expand_op=name,
            overlaps=overlaps,
            refused=whole and op not in _UNCHECKED,
            may_be_empty=may_be_empty,
        )
        self.pending.add(event, valid=lambda: id(write.origin) not in self._onto_itself)


def _may_share(target: Value | None, source: Value | None) -> bool:
    """Whether what is copied may be what is written, or a view of the same elements: then nothing is copied."""
    if target is None or source is None:
        return False
    storages = {id(tensor.storage) for tensor in reachable_tensors(target)}
    return any(id(tensor.storage) in storages for tensor in reachable_tensors(source))


def _overlaps(source: Tensor, expanded: Tensor, call: ir.Node | None) -> Truth:
    """Whether some elements share a place: YES if a dimension is surely expanded, MAYBE if it is to an unknown size."""
    if expanded.shape is None or 0 in expanded.shape:
        return Truth.NO
    if source.shape is None:
        return _overlaps_inserted(source, expanded.shape, call)
    missing = len(expanded.shape) - len(source.shape)
    found = Truth.NO
    for index, size in enumerate(expanded.shape):
        before = source.shape[index - missing] if index >= missing else 1
        if before == 1 and size is not None and size > 1:
            return Truth.YES
        if before == 1 and size is None and call is not None:
            found = Truth.MAYBE
    return found


def _overlaps_inserted(source: Tensor, shape: tuple[int | None, ...], call: ir.Node | None) -> Truth:
    """The same where only the one axis is known that was put into the source: `x.unsqueeze(1)`, `x[:, None]`."""
    if not isinstance(call, ir.Call) or any(each.star or each.keyword for each in call.arguments):
        return Truth.NO
    sizes = [each.value for each in call.arguments]
    if len(sizes) == 1 and isinstance(sizes[0], ir.Sequence):
        sizes = list(sizes[0].elements)
    if len(sizes) != len(shape):
        return Truth.NO
    axis = _inserted_axis(source.origin, len(shape), kept=integer(sizes[0]) == -1)
    if axis is None or integer(sizes[axis]) == -1:
        return Truth.NO
    size = shape[axis]
    return Truth.MAYBE if size is None else Truth.of(size > 1)


def _inserted_axis(origin: ir.Node, rank: int, *, kept: bool) -> int | None:
    """
    Which axis of size 1 an expression has put into a tensor of which nobody knows the rank, if it is expanded to
    `rank` axes: axes go together from the right. `kept`: the first of them is one that the tensor has.
    """
    axis = None
    if isinstance(origin, ir.Subscript):
        index = origin.index.elements if isinstance(origin.index, ir.Sequence) else [origin.index]
        dots = next((i for i, each in enumerate(index) if _is_value(each, ...)), None)
        behind = index if dots is None else index[dots + 1 :]
        plain = all(isinstance(each, ir.Slice) or _is_value(each, None) for each in behind)
        places = [i - len(behind) for i, each in enumerate(behind) if _is_value(each, None)]
        if plain and places and (dots is not None or len(index) == rank):
            axis = rank + places[0]
    elif isinstance(origin, ir.Call) and isinstance(origin.function, ir.Attribute) and origin.arguments:
        place = integer(origin.arguments[0].value) if origin.function.attr == "unsqueeze" else None
        if place is not None:
            axis = rank + place if place < 0 else place if kept or place == rank - 1 else None
    return axis if axis is not None and 0 <= axis < rank else None


def _is_value(node: ir.Node, value: object) -> bool:
    return isinstance(node, ir.Constant) and node.value is value


class DataWrites(Observer):
    """Watches writes through `.data`, and backwards that would have needed the old values."""

    concerns = (WRITING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._writes: list[tuple[Tensor, cst.BaseExpression, str, ir.Node, cst.CSTNode, int, Guard]] = []
        self._told: set[int] = set()

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        harmful = {id(event.node) for _, _, event, _ in self.pending.waiting}
        self.pending.flush()
        for target, node, op, origin, line, time, guard in self._writes:
            if id(origin.origin) not in harmful and id(origin) not in self._told:
                self._told.add(id(origin))
                saves = [each for each in target.storage.saves if each.time < time and implied(each.guard, guard)]
                event = self._event(target, node, op, origin, line, None, None, was_saved=bool(saves))
                self.machine.emit(event)
        self._writes.clear()
        self._told.clear()

    def wrote(self, tensor: Tensor, write: Write) -> None:
        source = _data_of(tensor)
        if write.op.removesuffix("_") in INPLACE_VIEWS:
            return  # no element is written
        if source is not None and not self.machine.expected_errors and tensor.grad_of is None:
            self._add(source, write.target_node, write.op, write.origin, write.line)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        target = only(owner, self.machine)
        written = expression(node.value) if isinstance(node, ir.Attribute) else None
        if name != "data" or not isinstance(target, Tensor) or written is None or self.machine.expected_errors:
            return
        fresh = isinstance(node, ir.Attribute) and target.origin is node.value and isinstance(node.value, ir.Subscript)
        if fresh and any(
            isinstance(each, Tensor) and each.storage is target.storage for _, each in alternatives(value)
        ):
            return  # `x[i].data *= 2` writes what it reads, and gives it the memory that it has
        if fresh:
            line = self.machine.line()
            self.machine.emit(self._event(target, written, ".data =", node, line, None, None, temporary=True))
        elif target.grad_of is None and not _keeps(target, value):
            self._add(target, written, ".data =", node, self.machine.line())

    def _add(self, target: Tensor, node: cst.BaseExpression, op: str, origin: ir.Node, line: cst.CSTNode) -> None:
        guard = self.machine.guard
        self._writes.append((target, node, op, origin, line, self.machine.tick(), guard))

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
        for target, written, op, where, line, time, guard in self._writes:
            if conjoin(guard, self.machine.path, self.machine.assumed) is None:
                continue
            for node in nodes:
                saved = next((s for s in node.saved if self._sees(s, target, time)), None)
                if saved is not None and not node.opaque:
                    what = (
                        "its result" if saved.what.startswith("result") else f"its input `{saved.name or target.name}`"
                    )
                    step = Step(node.origin.origin, f"`{node.op}` saves {what}")
                    event = self._event(
                        target, written, op, where, line, step, Step(origin.origin, "backward reads it here")
                    )
                    self.pending.add(event, guard, saved.guard)
                    break

    def _sees(self, saved: Saved, target: Tensor, time: int) -> bool:
        return saved.storage is target.storage and saved.time < time and implied(saved.guard, self.machine.path)

    def _event(
        self,
        target: Tensor,
        node: cst.BaseExpression,
        op: str,
        origin: ir.Node,
        line: cst.CSTNode,
        saved: Step | None,
        read: Step | None,
        *,
        was_saved: bool = False,
        temporary: bool = False,
    ) -> DataWritten:
        trace: tuple[Step, ...] = ()
        if saved is not None:  # of few: most write before anything is saved
            place = line if op == ".data =" else origin.origin
            trace = (saved, Step(place, f"`{op}` overwrites it unseen"), *([read] if read else []))
        return DataWritten(
            node=origin.origin,
            statement=line,
            trace=trace,
            target=self.machine.facts(target),
            target_node=node,
            owner_node=_owner(node),
            op=op,
            saved_by=saved,
            perhaps_saved=bool(target.storage.saves or target.storage.uses),
            was_saved=was_saved or saved is not None,
            temporary=temporary,
            of_leaf=(target.base or target).is_leaf is not Truth.NO,
        )


def _owner(written: cst.BaseExpression) -> cst.BaseExpression:
    """`t` of `t.data`; any other expression as it is."""
    at = python_node(written)
    if not isinstance(at, ast.Attribute) or at.attr != "data":
        return written
    return cast("cst.BaseExpression", place_at(at.value, ""))


def _data_of(tensor: Tensor) -> Tensor | None:
    """The tensor whose `.data` this is, or a view of."""
    base = tensor.base or tensor
    return base.alias.source if base.made_by == ".data" and base.alias is not None else None


def _keeps(target: Tensor, value: Value) -> bool:
    """Whether `t.data = t.data.to(...)` only moves or converts, or gives back what was there."""
    if isinstance(value, Tensor) and value.storage is target.storage:
        return True
    names = ("to", "cuda", "cpu", "half", "float", "double", "bfloat16", "contiguous", "type")
    return isinstance(value, Tensor) and value.op.rpartition(".")[2] in names


class StaleLeaves(Observer):
    """Watches leaves that are written after a forward has used them and before its backward."""

    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._written: list[tuple[Tensor, Write]] = []

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        self.pending.flush()
        self._written.clear()

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if write.op in RENORMS:
            return  # the rows that are scaled by a look-up are meant to have that length in those before it, too
        if tensor.base is None and tensor.requires_grad.truth() is Truth.YES and tensor.is_leaf is Truth.YES:
            self._written.append((tensor, write))

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
        if inputs is not None or not self._written:
            return
        used = leaves_used(nodes)
        for tensor, write in self._written:
            users = used.get(id(tensor), []) if any(tensor is leaf for leaf in leaves) else []
            older = [node for node in users if node.time < write.time]
            if (
                not older
                or len(older) < len(users)
                or any(node.formula == "unknown" for node in older)  # it may keep the tensor, and read the new value
                or any(r.origin is not origin for node in older for r in node.releases)
            ):
                continue
            place = write.origin.origin
            event = StaleGradient(
                node=place,
                statement=write.line,
                trace=(
                    Step(older[0].origin.origin, f"`{older[0].op}` uses `{tensor.name}` here"),
                    Step(place, f"`{write.op}` overwrites it"),
                    Step(origin.origin, "backward comes here"),
                ),
                leaf=self.machine.facts(tensor),
                op=write.op,
                forward=Step(older[0].origin.origin, f"`{older[0].op}` uses `{tensor.name}` here"),
                backward=Step(origin.origin, "backward comes here"),
            )
            self.pending.add(event, write.path | write.assumed, valid=partial(self._quiet, place))

    def _quiet(self, place: cst.CSTNode) -> bool:
        return not any(isinstance(event, SavedTensorRead) and event.node is place for event in self.machine.events)


@dataclass(slots=True, eq=False)
class _Second:
    """A second name for a tensor written in place."""

    name: str
    target: str
    tensor: Tensor
    event: InplaceResultBound
    guard: Guard
    read: set[str]
    frame: Frame
    """The call that binds it: another function may name its own variables alike."""
    statement: ir.Statement | None = None
    """The one that read it last, if the target is an attribute."""


class SecondNames(Observer):
    """Watches `z = x.add_(y)`."""

    concerns = (WRITING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._second: list[_Second] = []

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._second.clear()

    def concluded(self) -> None:
        self.pending.flush()
        self._second.clear()

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        tensor = only(value, self.machine)
        if self._second:
            self._second = [each for each in self._second if name not in (each.name, each.target)]
        if not isinstance(tensor, Tensor) or not isinstance(node, ir.Assign) or len(node.targets) != 1:
            return
        base: ir.Expression | None = node.value
        op = ""
        while (
            isinstance(base, ir.Call) and isinstance(base.function, ir.Attribute) and base.function.attr.endswith("_")
        ):
            op = op or base.function.attr
            base = base.function.value
        target = dotted(base)
        if not op or base is None or not target or target == name or node.value is None:
            return
        if not any(write.line is node.line for write in tensor.storage.writes) or op in ("requires_grad_", "detach_"):
            return
        value_node, target_node = expression(node.value), expression(base)
        if value_node is None or target_node is None:
            return
        event = InplaceResultBound(
            node=value_node,
            statement=node.line,
            op=op,
            name=name,
            target=target,
            value_node=value_node,
            target_node=target_node,
        )
        self._second.append(_Second(name, target, tensor, event, self.machine.guard, set(), self.machine.frame))

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        if self._second:
            self._read(name, value)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if self._second:
            self._read(dotted(origin), value)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if self._second:
            self._second = [each for each in self._second if each.target.rpartition(".")[2] != name]

    def _read(self, name: str, value: Value) -> None:
        for second in self._second:
            if self.machine.frame is not second.frame or value is not second.tensor:
                continue
            if name not in (second.name, second.target) or name in second.read:
                continue
            statement = self.machine.statement
            if "." in second.target and second.statement is not statement:
                second.read.clear()  # an object goes on with what it holds: one expression that reads both is the sign
                second.statement = statement
            second.read.add(name)
            if len(second.read) == 2:
                self.pending.add(second.event, second.guard)


class Indexing(Observer):
    """Watches reads by index on tensors of the graph."""

    concerns = ()

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        written = origin.value if isinstance(origin, ir.Subscript) else None
        node = expression(origin)
        target = expression(written) if written is not None else None
        if node is None or target is None or self.machine.grad_mode is not Truth.YES:
            return
        part = only(result, self.machine)
        if not isinstance(part, Tensor) or (tensor.requires_grad.truth() & part.requires_grad.truth()) is not Truth.YES:
            return
        machine = self.machine
        machine.emit(
            GraphTensorIndexed(
                node=node,
                statement=machine.line(),
                tensor=machine.facts(tensor, dotted(written)),
                tensor_node=target,
                kind="view" if part.view else "copy",
            )
        )
