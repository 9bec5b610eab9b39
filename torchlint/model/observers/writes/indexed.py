"""
Writes by index that get lost in a copy, and writes whose source is a shifted part of what they overwrite.

An index with tensors or lists gives a copy, slices give views (https://docs.pytorch.org/docs/stable/tensor_view.html);
what overlaps follows `at::get_overlap_status` (ATen/MemoryOverlap.cpp). Does not judge.
"""

from __future__ import annotations

import libcst as cst

from torchlint.knowledge.ops import find as ops
from torchlint.model.events.writes import CopyWritten, OverlapWritten
from torchlint.model.observers.pending import expression, only
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Tensor, Value, Write
from torchlint.syntax import ir
from torchlint.syntax.features import WRITING, Concern
from torchlint.syntax.for_effect import is_for_effect
from torchlint.syntax.spelling import dotted, indices, integer

_NO_WRITES = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_", "retain_grad"})


class LostWrites(Observer):
    """Watches writes into what an index has copied, where nothing else holds the copy."""

    concerns = (WRITING, Concern(here=(frozenset({"init"}),)))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._copies: dict[int, Tensor] = {}
        """The tensor indexed by each subscript of the running statement that gave a copy."""
        self._inside: list[ir.Node | None] = []

    def entry_started(self, function: Function | None) -> None:
        self._copies.clear()
        self._inside = [function.definition if function is not None else None]

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._inside.append(function.definition)

    def function_ended(self, function: Function, result: Value) -> None:
        if len(self._inside) > 1:
            self._inside.pop()

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        copy = only(result, self.machine)
        if isinstance(copy, Tensor) and copy.storage is not tensor.storage:
            self._copies[id(origin)] = tensor
        else:
            self._copies.pop(id(origin), None)

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        call = node.value
        if not self._copies or not isinstance(call, ir.Call) or not isinstance(call.function, ir.Attribute):
            return
        op = call.function.attr
        if dotted(call.function.value).rpartition(".")[2] == "init" and op.endswith("_") and call.arguments:
            self._tell(call.arguments[0].value, op, "function", call, node)
        elif op not in _NO_WRITES and any(each.returns_self and each.writes for each in ops.find(f"torch.Tensor.{op}")):
            self._tell(call.function.value, op, "method", call, node)

    def ran(self, statement: ir.Statement) -> None:
        if not self._copies:
            return
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, ir.Subscript):
                    self._tell(target.value, "[...] =", "indexed", target, statement)
        elif isinstance(statement, ir.AugmentedAssign) and isinstance(statement.target, ir.Subscript):
            self._tell(statement.target.value, f"{statement.op}=", "indexed", statement.target, statement)
        self._copies.clear()

    def _tell(
        self, written: ir.Expression, op: str, spelling: str, place: ir.Expression, statement: ir.Statement
    ) -> None:
        """Raise the event, if the written expression leads to a copy through nothing but methods of tensors."""
        direct = written
        while id(written) not in self._copies:
            if isinstance(written, ir.Call) and isinstance(written.function, ir.Attribute):
                if not ops.find(f"torch.Tensor.{written.function.attr}"):
                    return
                written = written.function.value
            elif isinstance(written, ir.Subscript) or (
                isinstance(written, ir.Attribute) and written.attr in ("data", "T", "mT")
            ):
                written = written.value
            else:
                return
        machine = self.machine
        subscript, node = expression(written), expression(place)
        inside = self._inside[-1] if self._inside else None
        if not isinstance(subscript, cst.Subscript) or node is None or machine.expected_errors:
            return
        if machine.foreign_call is not None or is_for_effect(machine.program, inside, statement, op):
            return
        source = self._copies[id(written)]
        machine.emit(
            CopyWritten(
                node=node,
                statement=statement.line,
                op=op,
                spelling="indexed" if spelling == "indexed" else "method" if spelling == "method" else "function",
                subscript=subscript,
                direct=direct is written,
                source=machine.facts(source, dotted(written.value) if isinstance(written, ir.Subscript) else ""),
            )
        )


class OverlappingWrites(Observer):
    """Watches `x[:, 1:] = x[:, :-1]` and its like."""

    concerns = (WRITING,)

    def wrote(self, tensor: Tensor, write: Write) -> None:
        statement = self.machine.statement
        if write.spelling != "indexed" or write.foreign_call is not None or self.machine.expected_errors:
            return
        if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            target, op = statement.targets[0], "="
        elif isinstance(statement, ir.AugmentedAssign):
            target, op = statement.target, f"{statement.op}="
        else:
            return
        if not isinstance(target, ir.Subscript) or write.line is not statement.line:
            return
        name = dotted(target.value)
        if name and name == dotted(target.index):
            if tensor.dtype == "int" and op == "=":
                self._tell(statement, target, target.index, tensor, name, op, 0, 0, Truth.YES)
            return
        value = statement.value
        if not name or not isinstance(value, ir.Subscript) or name != dotted(value.value):
            return
        whole = next((each for each in tensor.inputs if each.storage is tensor.storage), None)
        found = _shift(indices(target), indices(value), whole.shape) if whole is not None else None
        if found is None or whole is None:
            return
        dimension, shift = found
        dense = whole.contiguous
        if dimension:
            before = whole.shape[:dimension] if whole.shape is not None else (None,)
            parts = [Truth.MAYBE if size is None else Truth.of(size == 1) for size in before]
            for part in parts:
                dense = dense & part
        if shift > 0 or dense is Truth.YES or (dense is Truth.MAYBE and not dimension):
            self._tell(statement, target, value, whole, name, op, dimension, shift, dense)

    def _tell(
        self,
        statement: ir.Statement,
        target: ir.Subscript,
        value: ir.Expression,
        tensor: Tensor,
        name: str,
        op: str,
        dimension: int,
        shift: int,
        refused: Truth,
    ) -> None:
        node, source = expression(target), expression(value)
        if node is None or source is None:
            return
        self.machine.emit(
            OverlapWritten(
                node=node,
                statement=statement.line,
                target=self.machine.facts(tensor, name),
                source=source,
                op=op,
                dimension=dimension,
                shift=shift,
                refused=refused,
            )
        )


def _bounds(node: ir.Expression) -> tuple[int | None, int | None] | None:
    """The bounds of a slice with step 1, None for one that is left out; None if it is anything else."""
    if not isinstance(node, ir.Slice) or node.step is not None:
        return None
    found: list[int | None] = []
    for part in (node.lower, node.upper):
        number = integer(part) if part is not None else None
        if part is not None and number is None:
            return None
        found.append(number)
    return found[0], found[1]


def _shift(
    target: list[ir.Expression], value: list[ir.Expression], shape: tuple[int | None, ...] | None
) -> tuple[int, int] | None:
    """
    The dimension along which a part is moved onto a part of itself, and by how much: more than 0 to the back, less to
    the front. None where the two parts are the same, or may be apart.
    """
    if len(target) != len(value):
        return None
    found: tuple[int, int] | None = None
    for dimension, (to, source) in enumerate(zip(target, value, strict=True)):
        one, other = _bounds(to), _bounds(source)
        if one is None or other is None:
            return None
        if one == other:
            continue
        if found is not None:
            return None
        size = shape[dimension] if shape is not None and dimension < len(shape) else None
        shift = _between(one, other, size)
        if shift == 0:
            return None
        found = dimension, shift
    return found


def _between(to: tuple[int | None, int | None], source: tuple[int | None, int | None], size: int | None) -> int:
    """How far a slice lies behind another one that it surely overlaps; 0 if it may not."""
    if size is not None:
        one, other = range(size)[slice(*to)], range(size)[slice(*source)]
        apart = len(one) == 0 or len(one) != len(other) or abs(one.start - other.start) >= len(one)
        return 0 if apart else one.start - other.start
    # of unknown size: all but the first onto all but the last overlaps from three elements on
    if to[0] == 1 and to[1] is None and source[0] in (None, 0) and source[1] == -1:
        return 1
    return -1 if source[0] == 1 and source[1] is None and to[0] in (None, 0) and to[1] == -1 else 0
