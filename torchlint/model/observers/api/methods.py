"""
Sees calls of methods of tensors that some release of torch deprecates or has no more. Which release, and whether it is
one that the program has to run on, is not known here.
"""

from __future__ import annotations

import libcst as cst

from torchlint.model.events.api import TensorMethod
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import Tensor, Unknown, Value
from torchlint.syntax import ir
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
        if known and isinstance(call, cst.Call):
            self.machine.emit(
                TensorMethod(
                    node=origin.function.origin,
                    statement=self.machine.line(),
                    name=name,
                    spelled=dotted(origin.function) or f"Tensor.{name}",
                    call=call,
                )
            )
