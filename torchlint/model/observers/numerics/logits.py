"""Sees softmaxes and sigmoids on their way into a loss, and softmaxes that don't say over which dimension."""

from __future__ import annotations

import libcst as cst

from torchlint.model.events.numerics import Activation, DimensionImplied, LossOfActivation
from torchlint.model.events.trace import Step
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.values import Tensor, Value
from torchlint.syntax import ir
from torchlint.syntax.features import IMPLIED_DIM, SOFTMAXES, Concern, here

_ACTIVATIONS: dict[str, Activation] = {
    "softmax": "softmax", "log_softmax": "log_softmax", "sigmoid": "sigmoid", "logsigmoid": "logsigmoid",
}  # fmt: skip
_LOSSES = frozenset({"cross_entropy", "nll_loss", "kl_div", "binary_cross_entropy", "binary_cross_entropy_with_logits"})
_DIMENSIONLESS = frozenset(
    f"torch.nn.{name}" if name[0].isupper() else f"torch.nn.functional.{name}" for name in SOFTMAXES
)


class Logits(Computations):
    """Raises `LossOfActivation` and `DimensionImplied`."""

    words = ("softm", "Softm", "entropy", "Entropy", "nll", "NLL", "BCE")
    concerns = (
        Concern(
            near=(
                _LOSSES | {"+CrossEntropyLoss", "+NLLLoss", "+KLDivLoss", "+BCELoss", "+BCEWithLogitsLoss"},
                frozenset(_ACTIVATIONS) | {"+Softmax", "+LogSoftmax", "+Sigmoid", "+LogSigmoid"},
            )
        ),
        here(IMPLIED_DIM),
    )

    def computed(self, made: Computation) -> None:
        if made.name not in _LOSSES or made.how not in ("function", "layer"):
            return
        given = made.get(0, "input")
        before = self.behind_views(given)
        if before is None or before.name not in _ACTIVATIONS:
            return
        argument = made.written(0, "input")
        nested = argument is not None and argument is before.node
        trace = () if nested else (Step(before.node, f"`{before.name}` is applied here"),)
        self.machine.emit(
            LossOfActivation(
                node=made.node,
                statement=made.line,
                trace=trace,
                truth=self.now(),
                loss=made.name,
                written=made.spelling.rpartition(".")[2],
                activation=_ACTIVATIONS[before.name],
                activation_node=before.node,
                argument=argument,
                logits=before.written(0, "input"),
                nested=nested,
            )
        )

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified not in _DIMENSIONLESS or any(argument.star for argument in origin.arguments):
            return
        function = qualified.startswith("torch.nn.functional.")
        if function and not positional and "input" not in keywords:
            return  # torch raises for want of an input before it looks for a dimension
        position = 1 if function else 0
        given = positional[position] if len(positional) > position else keywords.get("dim")
        if (given is not None and constant(given) is not None) or not isinstance(origin.origin, cst.Call):
            return
        tensor = self.tensor(positional[0]) if function and positional else None
        rank = len(tensor.shape) if isinstance(tensor, Tensor) and tensor.shape is not None else None
        self.machine.emit(
            DimensionImplied(
                node=origin.origin,
                statement=self.machine.line(),
                truth=self.now(),
                name=qualified.rpartition(".")[2],
                rank=rank,
            )
        )
