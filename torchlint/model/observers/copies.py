"""Sees tensors given to constructors that take data."""

from __future__ import annotations

from typing import Literal

import libcst as cst

from torchlint.model import ir
from torchlint.model.computation import Computations
from torchlint.model.domain import Value
from torchlint.model.events.work import TensorCopied
from torchlint.model.machine import Machine
from torchlint.model.marks import COPIES, COPIES_HELD, anywhere, here
from torchlint.model.truth import Truth
from torchlint.source import parsed


class Copies(Computations):
    """Raises `TensorCopied`."""

    words = ("tensor(", "import tensor")
    concerns = (anywhere(COPIES), here(COPIES_HELD))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._tested: list[Value] = []

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified in ("builtins.isinstance", "torch.is_tensor", "builtins.hasattr", "builtins.type"):
            self._tested += positional[:1]
        elif qualified == "torch.tensor":
            self._copied("tensor", positional, keywords, origin, None)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "new_tensor" and isinstance(origin.function, ir.Attribute) and self.is_tensor(receiver):
            self._copied("new_tensor", positional, keywords, origin, origin.function.value)

    def _copied(
        self,
        how: Literal["tensor", "new_tensor"],
        positional: list[Value],
        keywords: dict[str, Value],
        origin: ir.Call,
        receiver: ir.Expression | None,
    ) -> None:
        data = positional[0] if positional else keywords.get("data")
        if not self.is_tensor(data) or any(data is tested for tested in self._tested):
            return
        argument = next((each for each in origin.arguments if each.keyword in ("data", "")), None)
        if argument is None or argument.star or not isinstance(argument.origin, cst.Arg):
            return
        if not isinstance(origin.origin, cst.Call):
            return
        tensor = self.tensor(data)
        self.machine.emit(
            TensorCopied(
                node=origin.origin,
                statement=self.machine.line(),
                truth=self.now(),
                how=how,
                call=origin.origin,
                data=parsed(argument.origin).value,
                argument=argument.origin,
                receiver=_expression(receiver),
                in_graph=tensor is not None and tensor.requires_grad.truth() is Truth.YES,
                plain=not any(each.star for each in origin.arguments),
            )
        )

    def concluded(self) -> None:
        self._tested = []


def _expression(node: ir.Expression | None) -> cst.BaseExpression | None:
    return node.origin if node is not None and isinstance(node.origin, cst.BaseExpression) else None
