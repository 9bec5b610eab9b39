"""
Methods looked up and not called, and grad-mode contexts made and not entered: statements that do nothing.

Says what stands there; does not judge.
"""

from __future__ import annotations

import re
from typing import Final

from torchlint.condition import Condition
from torchlint.model.events.calls import GradModeNotEntered, MethodNotCalled
from torchlint.model.observers.pending import argument, expression
from torchlint.model.python.attributes import is_module
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Bound,
    External,
    Function,
    GradModeGuard,
    Instance,
    Module,
    Optimizer,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import BARE, GRAD_MODES, here
from torchlint.syntax.spelling import dotted
from torchlint.truth import Truth

_OF_TENSORS: Final = frozenset({"backward", "zero_", "detach_", "retain_grad"})
_OF_OPTIMIZERS = frozenset({"step", "zero_grad"})
_OF_MODULES = frozenset({"zero_grad", "train", "eval", "cuda", "cpu"})
_OF_ANYTHING = frozenset({"backward", "zero_grad"})
_FIELD = re.compile(
    r"^[ \t]+state_dict[ \t]*:[^\n]*[^,\s][ \t]*$(?!\n[ \t]*\))|\bself\.state_dict[ \t]*(?::[^\n=]*)?=(?!=)"
    r"|@(?:\w*\.)?\w*property\s+def state_dict\b",
    re.MULTILINE,
)
"""A class that has a value, and no method, under that name."""


class Uncalled(Observer):
    """Watches statements, `with` blocks and `torch.save`."""

    concerns = (here(BARE), here("save", "state_dict"))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.read: dict[int, Value] = {}
        """What was read from an attribute `state_dict`, by the node that reads it."""

    def entry_started(self, function: Function | None) -> None:
        self.read.clear()

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        written = node.value
        origin = expression(written)
        if isinstance(written, ir.Attribute) and origin is not None:
            if self._is_method(written, value):
                self._emit(origin, written.attr, "statement")
        elif isinstance(written, ir.Call) and isinstance(written.origin, cst.Call) and isinstance(value, GradModeGuard):
            name = dotted(written.function).rpartition(".")[2]
            if name in GRAD_MODES:
                self.machine.emit(
                    GradModeNotEntered(
                        node=written.origin, statement=self.machine.line(), call=written.origin, name=name
                    )
                )

    def _is_method(self, written: ir.Attribute, value: Value) -> bool:
        name = written.attr
        for _, each in alternatives(value):
            if isinstance(each, Bound):
                receiver = each.receiver
                known = (
                    (isinstance(receiver, Tensor) and name in _OF_TENSORS)
                    or (isinstance(receiver, Optimizer) and name in _OF_OPTIMIZERS)
                    or (
                        isinstance(receiver, (Instance, Module))
                        and name in _OF_MODULES | {"forward", "backward"}
                        and _has_methods(each)
                    )
                )
                if not known:
                    return False
            elif not (isinstance(each, Unknown) and (name in _OF_ANYTHING or self._optimizer_step(written))):
                return False
        return True

    def _optimizer_step(self, written: ir.Attribute) -> bool:
        last = dotted(written.value).rpartition(".")[2].lower()
        return (written.attr == "step" and last.startswith(("optim", "opt_"))) or last in ("opt", "scheduler")

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        saved = argument(origin, 0, "obj") if qualified == "torch.save" else None
        if saved is not None:
            for each in saved.value.values if isinstance(saved.value, ir.Dict) else [saved.value]:
                if isinstance(each, ir.Attribute):
                    self._saved(each)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name == "state_dict":
            self.read[id(origin)] = value

    def _saved(self, written: ir.Attribute) -> None:
        """
        A method of a Module or an optimizer, or of something unknown: but of `self`, whose class may hold under that
        name what it likes.
        """
        node, value = expression(written), self.read.get(id(written))
        if written.attr != "state_dict" or node is None or value is None:
            return
        options = [each for _, each in alternatives(value)]
        if all(isinstance(each, Bound) and _has_methods(each) for each in options):
            self._emit(node, "state_dict", "saved")
        elif (
            all(isinstance(e, (Bound, Unknown)) for e in options)
            and dotted(written.value) not in ("", "self")
            and not self._is_a_field()
        ):
            self._emit(node, "state_dict", "saved", Condition("branch", f"callable({dotted(written)})"))

    def _is_a_field(self) -> bool:
        """Whether a class of the project holds something under that name: what nobody knows may be one of its."""
        texts = (self.machine.program.text, *(text for _, text in self.machine.mentioning("state_dict")))
        return any(_FIELD.search(text) for text in texts)

    def entered(self, node: ir.With, contexts: list[Value]) -> None:
        for item, value in zip(node.items, contexts, strict=True):
            written = expression(item.context)
            if (
                isinstance(value, External)
                and value.qualified in {f"torch.{mode}" for mode in GRAD_MODES}
                and written is not None
            ):
                self._emit(written, value.qualified[6:], "with")

    def _emit(self, node: cst.BaseExpression, name: str, place: str, *conditions: Condition) -> None:
        assert place in ("statement", "saved", "with")
        self.machine.emit(
            MethodNotCalled(
                node=node,
                statement=self.machine.line(),
                method=node,
                name=name,
                conditions=conditions,
                place="saved" if place == "saved" else "with" if place == "with" else "statement",
            )
        )


def _has_methods(method: Bound) -> bool:
    """Whether what a method was looked up on has it: a base from elsewhere may have anything under its name."""
    receiver = method.receiver
    if isinstance(receiver, Instance):
        return method.function is not None or is_module(receiver) is Truth.YES
    return isinstance(receiver, (Module, Optimizer))
