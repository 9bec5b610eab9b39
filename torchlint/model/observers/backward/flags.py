"""
Sees tensors of integers told to require grad: torch refuses (`Only Tensors of floating point and complex dtype can
require gradients`). Other refusals are told where the model meets them (`autograd/refusals`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.condition import Condition
from torchlint.model.events import AutogradRefused
from torchlint.model.observers.pending import expression, is_true, only
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import GRAD_YES, Constant, Scalar, Tensor, Value
from torchlint.syntax import ir
from torchlint.syntax.features import here
from torchlint.syntax.spelling import dotted

_WHOLE: Final = frozenset({"int", "bool"})
_OF_NUMBERS = {"tensor": 0, "as_tensor": 0, "scalar_tensor": 0, "arange": 0, "full": 1}
"""What takes the kind of its numbers, and the place of the first of these: before it are sizes."""
_MOST_SEEN = 20
"""Tensors that are looked at for what the numbers of one rest on."""


class IntegerFlags(Observer):
    """Raises `AutogradRefused` of the kind "integers"."""

    words = (
        "requires_grad",
        "Parameter",
        "retain_grad",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "detach_",
    )
    concerns = (
        here("requires_grad requires_grad_ Parameter retain_grad register_hook detach_"),
        here("register_post_accumulate_grad_hook add_param_group"),
    )

    def required_grad(self, tensor: Tensor, value: Value | None, how: str, origin: ir.Node) -> None:
        if tensor.dtype in _WHOLE and (value is None or is_true(value)) and not tensor.grad_fn:
            written = origin.function if isinstance(origin, ir.Call) else None
            owner = written.value if isinstance(written, ir.Attribute) else None
            if isinstance(origin, ir.Assign) and isinstance(origin.targets[0], ir.Attribute):
                owner = origin.targets[0].value
            self._tell(tensor, how, origin, dotted(owner))

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if not qualified.startswith("torch."):
            return
        if qualified == "torch.nn.Parameter" or qualified.endswith(".Parameter"):
            data = only(positional[0] if positional else keywords.get("data", Constant(None)), self.machine)
            made = only(result, self.machine) if result is not None else None
            trains = isinstance(made, Tensor) and made.requires_grad == GRAD_YES
            first = origin.arguments[0].value if origin.arguments else None
            if isinstance(data, Tensor) and data.dtype in _WHOLE and trains:
                self._tell(data, "nn.Parameter", origin, dotted(first))
        elif is_true(keywords.get("requires_grad")):
            made = only(result, self.machine) if result is not None else None
            if isinstance(made, Tensor) and made.dtype in _WHOLE:
                self._tell(made, "requires_grad=True", origin, "")

    def _tell(self, tensor: Tensor, how: str, origin: ir.Node, name: str) -> None:
        machine = self.machine
        place = machine.here(origin)
        machine.emit(
            AutogradRefused(
                node=place.origin,
                statement=machine.line(),
                moment=machine.tick(),
                kind="integers",
                op=how,
                target=machine.facts(tensor, name),
                target_node=expression(origin),
                conditions=self._annotated(tensor),
            )
        )

    def _annotated(self, tensor: Tensor) -> tuple[Condition, ...]:
        """
        The numbers of which an annotation alone says that they are integers: Python takes any, and then the tensor that
        is made of them holds others.
        """
        variables, pending = self.machine.frame.variables, [tensor]
        for each in pending:
            for name in _numbers(each.origin):
                value = variables.get(name.id)
                if isinstance(value, Scalar) and value.kind == "int" and value.said_of:
                    return (Condition("branch", f"isinstance({value.said_of}, int)"),)
            pending += each.inputs if len(pending) < _MOST_SEEN else ()
        return ()


def _numbers(origin: ir.Node) -> Iterator[ir.Name]:
    """The names in what a call makes a tensor of, where the kind of these numbers is that of the tensor."""
    if not isinstance(origin, ir.Call) or any(each.keyword == "dtype" for each in origin.arguments):
        return
    first = _OF_NUMBERS.get(dotted(origin.function).rpartition(".")[2])
    for each in origin.arguments[first:] if first is not None else ():
        yield from (name for name in ir.walk(each.value) if isinstance(name, ir.Name))
