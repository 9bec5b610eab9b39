"""
Sees calls of methods of tensors that some release of torch deprecates or has no more. Which release, and whether it is
one that the program has to run on, is not known here.
"""

from __future__ import annotations

from torchlint.model.events.api import TensorMethod
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Tensor, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import Concern
from torchlint.syntax.spelling import dotted

METHODS = frozenset(
    [
        "align_as", "align_to", "cholesky", "eig", "fft", "ger", "has_names", "ifft", "irfft", "is_ort", "lstsq", "lu",
        "qr", "refine_names", "rename", "rename_", "rfft", "solve", "svd", "symeig",
    ]
)  # fmt: skip
"""Those that `knowledge.api` has something to say of; a test holds them against it."""


class ChangingMethods(Observer):
    """Raises `TensorMethod`."""

    words = tuple(f".{name}(" for name in sorted(METHODS))
    concerns = (Concern(here=(METHODS,)),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._doubtful: dict[int, Value] = {}
        """What operators with something unknown gave, by identity."""

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name not in METHODS or not isinstance(origin.function, ir.Attribute):
            return
        call = origin.origin
        known = isinstance(receiver, Tensor) or (isinstance(receiver, Unknown) and receiver.tensor is not None)
        if known and isinstance(call, cst.Call) and not self._may_be_another(receiver):
            self.machine.emit(
                TensorMethod(
                    node=origin.function.origin,
                    statement=self.machine.line(),
                    name=name,
                    spelled=dotted(origin.function) or f"Tensor.{name}",
                    call=call,
                )
            )

    def binary(self, op: str, left: Value, right: Value, result: Value, origin: ir.Binary) -> None:
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            self._doubtful[id(result)] = result
            if isinstance(result, Unknown) and result.tensor is not None:
                self._doubtful[id(result.tensor)] = result

    def _may_be_another(self, value: Value, depth: int = 8) -> bool:
        """
        Whether an operator with something unknown made a value, or made what it was made from: `kernel * mask` is what
        the class of `kernel` says, and may be no tensor.
        """
        if id(value) in self._doubtful or (isinstance(value, Unknown) and id(value.tensor) in self._doubtful):
            return True
        made = self.machine.computations.maker(value)
        if made is None or not depth:
            return False
        first = made.operands[:1] if made.how == "method" else made.operands
        return any(self._may_be_another(each, depth - 1) for each in first)
