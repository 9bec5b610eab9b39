"""
Methods looked up and not called, and grad-mode contexts made and not entered: statements that do nothing.

Says what stands there; does not judge.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model.events.calls import GradModeNotEntered, MethodNotCalled
from torchlint.model.observers.pending import argument, dotted, expression
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import (
    Bound,
    External,
    GradModeGuard,
    Instance,
    Module,
    Optimizer,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import ir
from torchlint.syntax.features import BARE, here

_OF_TENSORS = frozenset({"backward", "zero_", "detach_", "retain_grad"})
_OF_OPTIMIZERS = frozenset({"step", "zero_grad"})
_OF_MODULES = frozenset({"zero_grad", "train", "eval", "cuda", "cpu"})
_OF_ANYTHING = frozenset({"backward", "zero_grad"})
_MODES = frozenset({"no_grad", "inference_mode", "enable_grad"})


class Uncalled(Observer):
    """Watches statements, `with` blocks and `torch.save`."""

    concerns = (here(BARE), here("no_grad inference_mode enable_grad"), here("save", "state_dict"))

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        written = node.value
        origin = expression(written)
        if isinstance(written, ir.Attribute) and origin is not None:
            if self._is_method(written, value):
                self._emit(origin, written.attr, "statement")
        elif isinstance(written, ir.Call) and isinstance(written.origin, cst.Call) and isinstance(value, GradModeGuard):
            name = dotted(written.function).rpartition(".")[2]
            if name in _MODES:
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
                    or (isinstance(receiver, (Instance, Module)) and name in _OF_MODULES | {"forward", "backward"})
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
        if qualified != "torch.save":
            return
        saved = argument(origin, 0, "obj")
        if saved is None:
            return
        written = saved.value
        for each in written.values if isinstance(written, ir.Dict) else [written]:
            node = expression(each)
            if isinstance(each, ir.Attribute) and each.attr == "state_dict" and node is not None:
                self._emit(node, "state_dict", "saved")

    def entered(self, node: ir.With, contexts: list[Value]) -> None:
        for item, value in zip(node.items, contexts, strict=True):
            written = expression(item.context)
            if (
                isinstance(value, External)
                and value.qualified in {f"torch.{mode}" for mode in _MODES}
                and written is not None
            ):
                self._emit(written, value.qualified[6:], "with")

    def _emit(self, node: cst.BaseExpression, name: str, place: str) -> None:
        assert place in ("statement", "saved", "with")
        self.machine.emit(
            MethodNotCalled(
                node=node,
                statement=self.machine.line(),
                method=node,
                name=name,
                place="saved" if place == "saved" else "with" if place == "with" else "statement",
            )
        )
