"""
What runs now: the calls that are being followed, the loops over parameters around the running statement.

Answers what events say of their surroundings; changes nothing.
"""

from __future__ import annotations

import re

import libcst as cst

from torchlint.model.state.guards import Guard
from torchlint.model.state.machine import Machine
from torchlint.model.state.trail import Changes
from torchlint.model.state.values import Frame, Instance, Optimizer, Tensor, Value
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted_text

_COMPILES = re.compile(r"(?:^|\bjit\.)(?:script|script_method|export)$")


class CallFrame:
    """What a running function has returned so far: each `return` with the changes made on the way to it."""

    __slots__ = ("definition", "mark", "path", "returns", "started")

    def __init__(self, definition: ir.Node, mark: int, path: Guard, started: int) -> None:
        self.started = started
        self.definition = definition
        self.mark = mark
        self.path = path
        self.returns: list[tuple[Guard, Changes, Value]] = []


def activated(machine: Machine) -> int:
    """The moment at which the running function was called; 0 in the file itself."""
    return machine.stack[-1].started if machine.stack else 0


def function_name(machine: Machine) -> str:
    """The name of the function that runs, or ""."""
    definition = machine.stack[-1].definition if machine.stack else None
    return definition.name if isinstance(definition, ir.FunctionDef) else ""


def zeroing(machine: Machine) -> bool:
    """Whether the running function is one that zeroes gradients, by its name."""
    names = [f.definition.name for f in machine.stack if isinstance(f.definition, ir.FunctionDef)]
    return any("zero" in name for name in names)


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
