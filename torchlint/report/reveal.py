"""
The abstract state made visible: what the model holds of each variable after each statement of a file's script part.

For rule writers and the curious (`torchlint check --show-state`), and for the tests that hold the model against live
tensors. Watches a run like any observer and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.model.autograd.writes import is_none
from torchlint.model.events import Shape
from torchlint.model.scheduling.entry_points import EntryPoints
from torchlint.model.state.guards import Truth, implied
from torchlint.model.state.hooks import Observer, Watch
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import ir
from torchlint.syntax.lowering import program_of
from torchlint.syntax.place import line_of


@dataclass(frozen=True, slots=True)
class TensorState:
    """
    What the model knows of a tensor: never more than is so, possibly less (MAYBE, None, "").

    Attributes
    ----------
    shape, dtype
        Sizes; "float", "int", "bool", "complex".
    requires_grad, is_leaf, has_grad
        As `Tensor.requires_grad`, `Tensor.is_leaf`, and whether `Tensor.grad` is not None.
    grad_fn
        The name of its node, "" if unknown or none.
    written
        Whether its version counter has moved.
    """

    shape: Shape
    dtype: str | None
    requires_grad: Truth
    is_leaf: Truth
    has_grad: Truth
    grad_fn: str
    written: Truth

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else "×".join("?" if size is None else str(size) for size in self.shape)
        words = [f"tensor {sizes or 'scalar'}", self.dtype or "any dtype"]
        words += _words(self.requires_grad, "requires grad", "no grad", "requires grad?")
        words += _words(self.is_leaf, "leaf", "", "leaf?")
        words += [self.grad_fn] if self.grad_fn else []
        words += _words(self.has_grad, "has .grad", "", "")
        words += _words(self.written, "written in place", "", "written in place?")
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class StateAfter:
    """The variables that a statement of the script changed, in the line it begins on, and what they are after it."""

    line: int
    changed: dict[str, str]
    tensors: dict[str, TensorState]


def reveal(text: str) -> list[StateAfter]:
    """
    The state after each statement at the top level of a file, run as a script.

    Raises
    ------
    torchlint.syntax.text.SourceError
        if it is not valid Python, or nested too deeply to be followed.
    """
    entries = EntryPoints(program_of(text))
    watcher = _Reveal(entries)
    entries.machine.watch = Watch((watcher,))
    entries.run_script()
    return watcher.states


class _Reveal(Observer):
    def __init__(self, entries: EntryPoints) -> None:
        super().__init__(entries.machine)
        self._run = entries.run
        self.states: list[StateAfter] = []
        self._before: dict[str, str] = {}

    def ran(self, statement: ir.Statement) -> None:
        machine = self.machine
        if machine.frame is not machine.globals or self._run.loops:
            return
        texts: dict[str, str] = {}
        tensors: dict[str, TensorState] = {}
        for name, value in machine.globals.variables.items():
            if name.startswith("__"):
                continue
            texts[name] = describe(value, machine)
            if isinstance(value, Tensor):
                tensors[name] = tensor_state(value, machine)
        changed = {name: text for name, text in texts.items() if self._before.get(name) != text}
        self._before = texts
        self.states.append(StateAfter(line_of(statement.line), changed, tensors))


def tensor_state(tensor: Tensor, machine: Machine) -> TensorState:
    """What is known of a tensor now."""
    names = {node.name for _, node in tensor.grad_fn}
    writes = [write for write in tensor.storage.writes if write.counter is tensor.counter]
    sure = any(implied(write.path | write.assumed, machine.path) for write in writes)
    unseen = bool(tensor.storage.uses) or any(node.opaque for _, node in tensor.grad_fn)
    return TensorState(
        shape=tensor.shape,
        dtype=tensor.dtype,
        requires_grad=tensor.requires_grad.truth(),
        is_leaf=tensor.is_leaf,
        # A computed tensor keeps its gradient only if asked to, which hooks and contexts may do too.
        has_grad=Truth.MAYBE if tensor.retains_grad else ~is_none(tensor.grad),
        grad_fn=names.pop() if len(names) == 1 else "",
        written=Truth.YES if sure else Truth.MAYBE if writes or unseen else Truth.NO,
    )


def describe(value: Value, machine: Machine, depth: int = 2) -> str:
    """A value in one line."""
    if isinstance(value, Tensor):
        return str(tensor_state(value, machine))
    if isinstance(value, Unknown):
        return describe(value.tensor, machine) if value.tensor is not None else "unknown"
    if isinstance(value, Constant):
        return "None" if value == NONE else repr(value.value)[:40]
    if isinstance(value, Scalar):
        return f"some {value.kind}"
    if isinstance(value, Choice):
        return " | ".join(describe(each, machine, depth - 1) for _, each in alternatives(value))
    if isinstance(value, Sequence):
        return _sequence(value, machine, depth)
    if isinstance(value, Mapping):
        return "dict of unknown keys" if value.items is None else f"dict of {len(value.items)}"
    if isinstance(value, Instance):
        return f"{value.cls.name} object"
    if isinstance(value, Module):
        return f"nn.{value.kind.name}"
    if isinstance(value, Optimizer):
        return f"{value.qualified} over {len(value.parameters)}{'' if value.complete else ' or more'} tensors"
    if isinstance(value, External):
        return value.qualified
    if isinstance(value, Function):
        return f"function {value.name}"
    return f"class {value.name}" if isinstance(value, Class) else type(value).__name__.lower()


def _sequence(value: Sequence, machine: Machine, depth: int) -> str:
    if value.items is None:
        return f"{value.kind} of unknown length"
    if depth <= 0 or len(value.items) > 4:
        return f"{value.kind} of {len(value.items)}"
    return f"{value.kind} of " + "; ".join(describe(each, machine, depth - 1) for each in value.items)


def _words(truth: Truth, yes: str, no: str, maybe: str) -> list[str]:
    word = {Truth.YES: yes, Truth.NO: no, Truth.MAYBE: maybe}[truth]
    return [word] if word else []
