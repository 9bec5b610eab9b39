"""Sees every call of a name of torch; watches only where a rule listens to the one general event, `OpCalled`."""

from __future__ import annotations

from torchlint.model.events import OpCalled, TensorFacts
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import Tensor, Value
from torchlint.syntax import cst, ir


class Calls(Observer):
    """Raises `OpCalled`."""

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified.startswith("torch."):
            self._emit(qualified, positional, keywords, origin)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if isinstance(receiver, Tensor):
            self._emit(f"torch.Tensor.{name}", positional, keywords, origin)

    def _emit(self, name: str, positional: list[Value], keywords: dict[str, Value], origin: ir.Call) -> None:
        call = origin.origin
        if not isinstance(call, cst.Call):
            return
        given: list[tuple[str | int, Value]] = [*enumerate(positional), *keywords.items()]
        arguments = tuple([(key, self._facts(value)) for key, value in given])
        self.machine.emit(OpCalled(node=call, statement=self.machine.line(), name=name, call=call, arguments=arguments))

    def _facts(self, value: Value) -> TensorFacts | None:
        return self.machine.facts(value) if isinstance(value, Tensor) else None
