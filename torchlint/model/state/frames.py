"""
What runs now: the calls that are being followed, the loops over parameters around the running statement.

Answers what events say of their surroundings; changes nothing.
"""

from __future__ import annotations

import re

from torchlint.model.state.guards import Guard
from torchlint.model.state.machine import Machine
from torchlint.model.state.trail import Changes
from torchlint.model.state.values import Frame, Instance, Optimizer, Tensor, Value, reachable_tensors
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted, dotted_text

_COMPILES = re.compile(r"(?:^|\bjit\.)(?:script|script_method|export)$")


class CallFrame:
    """What a running function has returned so far: each `return` with the changes made on the way to it."""

    __slots__ = ("called_from", "definition", "frame", "mark", "path", "rests", "returns", "started")

    def __init__(
        self, definition: ir.Node, mark: int, path: Guard, started: int, frame: Frame, called_from: int = 0
    ) -> None:
        self.started = started
        self.called_from = called_from
        """The statement of the call, and those of the calls around it, as one number; 0: followed by itself."""
        self.definition = definition
        self.mark = mark
        self.path = path
        self.frame = frame
        self.returns: list[tuple[Guard, Changes, Value]] = []
        self.rests: list[tuple[int, Guard, int, int]] = []
        """
        See `python.arms`: of an `if` that an arm leaves the function by, its identity, what was decided after it, and
        how many events and writes there had been.
        """

    def own(self) -> dict[str, Value] | None:
        """The variables that nobody sees once the function has returned, so that no path need know them; None: none."""
        return None if self.frame.captured else self.frame.variables


def activated(machine: Machine) -> int:
    """The moment at which the running function was called; 0 in the file itself."""
    return machine.stack[-1].started if machine.stack else 0


def function_name(machine: Machine) -> str:
    """The name of the function that runs, or ""."""
    definition = machine.stack[-1].definition if machine.stack else None
    return definition.name if isinstance(definition, ir.FunctionDef) else ""


def running(machine: Machine) -> list[ir.FunctionDef]:
    """The functions that run, the innermost last."""
    return [each.definition for each in machine.stack if isinstance(each.definition, ir.FunctionDef)]


def zeroing(machine: Machine) -> bool:
    """Whether the running function is one that zeroes gradients, by its name."""
    return any("zero" in each.name for each in running(machine))


def is_compiled(machine: Machine) -> bool:
    """Whether what runs is compiled by TorchScript, because a function that led here says so by its decorator."""
    return any(
        _COMPILES.search(dotted_text(decorator))
        for frame in machine.stack
        if isinstance(frame.definition, ir.FunctionDef)
        for decorator in frame.definition.decorators
    )


def loop_source(machine: Machine, owner: Tensor) -> str:
    """In a loop over `m.parameters()`: `m`."""
    if not machine.parameter_loops:
        return ""
    source, _, tensors = machine.parameter_loops[-1]
    unseen = any(node.opaque for _, node in owner.grad_fn)
    return source if id(owner) in tensors or unseen else ""


def loop_over(machine: Machine, owner: Tensor) -> cst.For | None:
    """The loop over parameters whose body is nothing but this write."""
    return machine.parameter_loops[-1][1] if machine.parameter_loops and loop_source(machine, owner) else None


def next_to(machine: Machine, attribute: str) -> list[ir.Statement]:
    """The running statement and those right before and behind it that write to that attribute of something, too."""
    around: ir.Node = machine.stack[-1].definition if machine.stack else machine.program
    running = machine.statement
    for node in ir.walk(around):
        for part in ir.parts(type(node)):
            block = getattr(node, part)
            if not isinstance(block, list) or not any(each is running for each in block):
                continue
            at = next(index for index, each in enumerate(block) if each is running)
            first = last = at
            while first > 0 and owners_of(block[first - 1], attribute):
                first -= 1
            while last + 1 < len(block) and owners_of(block[last + 1], attribute):
                last += 1
            return block[first : last + 1]
    return [running] if running is not None else []


def owners_of(statement: ir.Node, attribute: str) -> set[str]:
    """`w` of a statement that does nothing but write to `w.grad`: `w.grad.zero_()`; an assignment may have several."""
    if isinstance(statement, ir.ExpressionStatement) and isinstance(statement.value, ir.Call):
        written: list[ir.Expression] = [statement.value.function]
    elif isinstance(statement, ir.Assign):
        written = list(statement.targets)
    elif isinstance(statement, ir.AugmentedAssign):
        written = [statement.target]
    else:
        return set()
    inside = [node for each in written for node in ir.walk(each)]
    return {dotted(each.value) for each in inside if isinstance(each, ir.Attribute) and each.attr == attribute}


def reads_of(machine: Machine, name: str, attribute: str) -> bool:
    """Whether the running function reads that attribute of a name, but for what `owners_of` says, and for `is None`."""
    around: ir.Node = machine.stack[-1].definition if machine.stack else machine.program
    written = {
        id(inside)
        for each in ir.walk(around)
        if isinstance(each, (ir.ExpressionStatement, ir.Assign)) and owners_of(each, attribute)
        for inside in ir.walk(each)
    }
    written |= {id(each.left) for each in ir.walk(around) if isinstance(each, ir.Compare) and "is" in each.ops[0]}
    return any(
        isinstance(each, ir.Attribute) and each.attr == attribute and dotted(each.value) == name
        for each in ir.walk(around)
        if id(each) not in written
    )


def is_held(machine: Machine, tensors: list[Tensor]) -> bool:
    """Whether a variable in sight, or an attribute of what one holds, leads to the storage of one of these."""
    storages = {id(each.storage) for each in tensors}
    frame: Frame | None = machine.frame
    while frame is not None:
        for value in frame.variables.values():
            held = list(value.attributes.values()) if isinstance(value, Instance) else [value]
            if any(id(each.storage) in storages for one in held for each in reachable_tensors(one)):
                return True
        frame = frame.enclosing
    return False


def object_of(machine: Machine, owner: Tensor) -> str:
    """`net` of a tensor that is known as `net.weight`; "" where `net` is an object in sight that is no Module."""
    path = owner.name.rpartition(".")[0]
    first, *rest = path.split(".")
    value: Value | None = machine.frame.variables.get(first)
    for name in rest:
        value = value.attributes.get(name) if isinstance(value, Instance) else None
    return "" if isinstance(value, Instance) and not value.cls.outside() else path


def optimizer_of(machine: Machine, owner: Tensor) -> str:
    """The name of an optimizer in sight that holds the tensor."""
    frame: Frame | None = machine.frame
    while frame is not None:
        for name, value in frame.variables.items():
            if isinstance(value, Optimizer) and any(owner is tensor for tensor in value.parameters):
                return name
        frame = frame.enclosing
    return ""
