"""
Writes by index that get lost in a copy: an index with tensors or lists gives one, slices give views
(https://docs.pytorch.org/docs/stable/tensor_view.html). Does not judge.
"""

from __future__ import annotations

from torchlint.knowledge.ops import find as ops
from torchlint.model.events import TensorFacts
from torchlint.model.events.writes import CopyWritten
from torchlint.model.observers.pending import expression, only
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Tensor, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import WRITING, Concern
from torchlint.syntax.for_effect import is_for_effect
from torchlint.syntax.spelling import dotted

_NO_WRITES = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_", "retain_grad"})
_NO_MASKS = frozenset({"is", "is not", "in", "not in"})


class LostWrites(Observer):
    """Watches writes into what an index has copied, where nothing else holds the copy."""

    concerns = (WRITING, Concern(here=(frozenset({"init"}),)))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._copies: dict[int, Tensor | None] = {}
        """What is indexed by each subscript of the running statement that gave a copy; None if nobody knows it."""
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

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        """What a mask of torch picks, and is written by a method of tensors, is a copy, whatever it is picked from."""
        if not isinstance(receiver, Unknown) or not name.endswith("_") or not isinstance(receiver.source, ir.Subscript):
            return
        index = receiver.picked_by
        if isinstance(index, Tensor):
            copies = index.dtype == "bool" or bool(index.dtype == "int" and index.shape)
        else:
            copies = index is not None and _is_own_mask(receiver.source)
        if copies:
            self._copies[id(receiver.source)] = None

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
        name = dotted(written.value) if isinstance(written, ir.Subscript) else ""
        machine.emit(
            CopyWritten(
                node=node,
                statement=statement.line,
                op=op,
                spelling="indexed" if spelling == "indexed" else "method" if spelling == "method" else "function",
                subscript=subscript,
                direct=direct is written,
                source=machine.facts(source, name) if source is not None else TensorFacts(name=name),
            )
        )


def _is_own_mask(node: ir.Subscript) -> bool:
    """`x[x > 0]`: whatever compares with a number as a whole gives a mask."""
    index, name = node.index, dotted(node.value)
    return isinstance(index, ir.Compare) and bool(name) and dotted(index.left) == name and index.ops[0] not in _NO_MASKS
