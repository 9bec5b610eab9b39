"""
Loops over parameters that bind their variable to a new tensor, as if that changed the parameter.

`for p in net.parameters(): p = p - lr * p.grad`: the name is bound anew, the parameter keeps its value. Nothing in the
loop may read the name afterwards, so that there is nothing else the new tensor could be for. Reads; does not judge.
"""

from __future__ import annotations

from torchlint.knowledge.ops import find as ops
from torchlint.model.events.registration import ParameterRebound
from torchlint.model.observers.pending import expression
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import one_of
from torchlint.syntax.liveness import may_be_read, reads
from torchlint.syntax.spelling import bound_by

_LISTS = frozenset({"parameters", "named_parameters"})


class ReboundParameters(Observer):
    """Raises `ParameterRebound`."""

    words = ("parameters",)
    concerns = (one_of(_LISTS),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._loops: list[tuple[ir.For | ir.While, dict[str, Value]]] = []
        self._told: set[int] = set()

    def entry_started(self, function: Function | None) -> None:
        self._loops.clear()
        self._told.clear()

    def concluded(self) -> None:
        self.entry_started(None)

    def iteration_started(self, node: ir.For | ir.While, number: int) -> None:
        held: dict[str, Value] = {}
        if isinstance(node, ir.For) and any(
            isinstance(each, ir.Attribute) and each.attr in _LISTS for each in ir.walk(node.iterable)
        ):
            variables = self.machine.frame.variables
            held = {name: variables[name] for name in bound_by(node.target) if _is_parameter(variables.get(name))}
        self._loops.append((node, held))

    def iteration_ended(self, node: ir.For | ir.While, number: int) -> None:
        if self._loops:
            self._loops.pop()

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        if not self._loops or not isinstance(node, ir.Assign) or node.value is None or id(node) in self._told:
            return
        loop, held = self._loops[-1]
        if name not in held or not isinstance(loop, ir.For) or len(node.targets) != 1:
            return
        if not isinstance(node.targets[0], ir.Name) or not _is_computed(node.value, name):
            return
        written = expression(node.value)
        if written is None or may_be_read([loop], node, name) or not self.machine.is_certain():
            return
        self._told.add(id(node))
        self.machine.emit(ParameterRebound(node=written, statement=self.machine.line(), name=name, value_node=written))


def _is_parameter(value: Value | None) -> bool:
    if isinstance(value, Tensor):
        return value.is_parameter is Truth.YES
    return isinstance(value, Unknown) and bool(value.element_of_parameters)


def _is_computed(node: ir.Expression, name: str) -> bool:
    """
    Whether an expression computes a new tensor from what a name holds, by operators and by functions and methods of
    torch that write nothing.
    """
    if isinstance(node, ir.Binary):
        return reads(node, name) and not any(isinstance(each, ir.Call) and not _is_pure(each) for each in ir.walk(node))
    return isinstance(node, ir.Call) and _is_pure(node) and reads(node, name)


def _is_pure(call: ir.Call) -> bool:
    function = call.function
    if not isinstance(function, ir.Attribute) or any(each.keyword == "out" or each.star for each in call.arguments):
        return False
    of_torch = isinstance(function.value, ir.Name) and function.value.id == "torch"
    found = ops.find(f"torch.{function.attr}" if of_torch else f"torch.Tensor.{function.attr}")
    return bool(found) and not function.attr.endswith("_")
