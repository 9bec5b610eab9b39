"""Sees softmaxes and sigmoids on their way into a loss."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from torchlint.model.events import BackwardCallee
from torchlint.model.events.numerics import Activation, LossOfActivation
from torchlint.model.events.trace import Step
from torchlint.model.state.computations import VIEWS, Computation, Computations
from torchlint.model.state.guards import Guard
from torchlint.model.state.values import GraphNode, Sequence, Tensor, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATES, LOSS_NAMES, NAMES_LOSS, WEIGHS, Concern

_ACTIVATIONS: dict[str, Activation] = {
    "softmax": "softmax", "log_softmax": "log_softmax", "sigmoid": "sigmoid", "logsigmoid": "logsigmoid",
}  # fmt: skip
_SCORES: dict[str, Activation] = {"linear": "linear", "conv1d": "conv1d", "conv2d": "conv2d", "conv3d": "conv3d"}
"""What gives scores of any sign and size, which are no logarithms of probabilities."""
_PARTS: Final = frozenset({"[]", "unbind", "chunk", "split", "tensor_split", "index_select", "masked_select", "narrow"})
_JOINING = frozenset({"cat", "stack"})
_MOST_PARTS = 8
_LOSSES: Final = frozenset(
    {"cross_entropy", "nll_loss", "kl_div", "binary_cross_entropy", "binary_cross_entropy_with_logits"}
)
_OF_LOSSES = _LOSSES | {
    NAMES_LOSS, f"+{NAMES_LOSS}",
    "+CrossEntropyLoss", "+NLLLoss", "+KLDivLoss", "+BCELoss", "+BCEWithLogitsLoss",
}  # fmt: skip
"""What is written where a loss is computed."""
_APPLYING = frozenset({"expit", "*softm", "*Softm", "*sigm", "*Sigm"}).union(
    f"+{each}" for each in (*_ACTIVATIONS, "Softmax", "LogSoftmax", "Sigmoid", "LogSigmoid")
)
"""What is written where an activation is applied, or a layer is built that does."""


class Logits(Computations):
    """Raises `LossOfActivation`."""

    words = ("softm", "Softm", "entropy", "Entropy", "nll", "NLL", "BCE", *sorted(LOSS_NAMES))
    concerns = (
        Concern(near=(_OF_LOSSES, _APPLYING)),
        Concern(near=(_OF_LOSSES,), anywhere=(_APPLYING | {f"-{WEIGHS}"},)),  # what weighs comes from far as no score
        # Scores stand before a loss of logarithms by no word of their own.
        Concern(near=(frozenset({"nll_loss", "+NLLLoss"}),)),
        # The activation may be applied in another file, and the loss made in one, as may what an attribute of a module
        # is, or of an object: other files are asked where a backward is in sight.
        Concern(near=(_OF_LOSSES | LOSS_NAMES,), anywhere=(frozenset({DIFFERENTIATES}),)),
        Concern(near=(_OF_LOSSES | LOSS_NAMES,), writes=True),
    )

    def computed(self, made: Computation) -> None:
        if made.name not in _LOSSES or made.how not in ("function", "layer"):
            return
        before = self._activation(made.get(0, "input"))
        if before is not None:
            self._tell(made, before)

    def backward(
        self,
        callee: BackwardCallee,
        root: Tensor,
        nodes: list[GraphNode],
        leaves: list[Tensor],
        inputs: list[Tensor] | None,
        create_graph: bool | None,
        origin: ir.Node,
    ) -> None:
        # as a term beside `logsumexp` it picks scores, rightly: only what is the whole loss is told
        made = self.maker(root)
        if made is not None and made.name == "nll_loss" and made.how in ("function", "layer"):
            scores = self._made_by(made.get(0, "input"), _SCORES)
            if scores is not None:
                self._tell(made, scores)

    def _tell(self, made: Computation, before: Computation) -> None:
        argument = made.written(0, "input")
        nested = before.spelling != "" and argument is not None and argument is before.node
        trace = () if nested else (_applied(before),)
        self.machine.emit(
            LossOfActivation(
                node=made.node,
                statement=made.line,
                trace=trace,
                loss=made.name,
                written=made.spelling.rpartition(".")[2],
                activation=(_ACTIVATIONS | _SCORES)[before.name],
                activation_node=before.node,
                argument=argument,
                logits=before.written(0, "input"),
                nested=nested,
            )
        )

    def _made_by(self, value: Value | None, names: Collection[str], left: int = 20) -> Computation | None:
        """The computation of one of these names whose result a value is, whole, in whichever shape."""
        while value is not None and left:
            left -= 1
            made = self.maker(value)
            if made is None or made.name in names:
                return made
            value = made.get(0, "input") if made.name in VIEWS else None
        return None

    def _activation(self, value: Value | None, left: int = 20) -> Computation | None:
        """
        The softmax or sigmoid that a value is made of: all of it, a part of it (an index, a mask, a row), or several of
        its kind put together.
        """
        while value is not None and left:
            left -= 1
            made = self.maker(value)
            if made is None:
                if isinstance(value, Tensor) and value.made_by in _ACTIVATIONS and isinstance(value.origin, ir.Call):
                    return _elsewhere(value, value.origin, self.machine.line(), self.machine.path)
                value = _whole(value)
            elif made.name in _ACTIVATIONS:
                return made
            elif made.name in _JOINING:
                return self._of_all(made.get(0, "tensors"), left)
            else:
                value = made.get(0, "input") if made.name in VIEWS or made.name in _PARTS else None
        return None

    def _of_all(self, tensors: Value | None, left: int) -> Computation | None:
        """The activation behind each of the tensors in a list, if it is the same for all of them."""
        if not isinstance(tensors, Sequence):
            return None
        parts = tensors.items if tensors.items is not None else (tensors.element,)
        found = [self._activation(each, left) for each in parts[:_MOST_PARTS]]
        first = found[0] if found else None
        same = all(each is not None and first is not None and each.name == first.name for each in found)
        return first if same else None


def _whole(value: Value) -> Value | None:
    """What a part, or a view that another file has made, is of."""
    if not isinstance(value, Tensor):
        return None
    if value.made_by in _PARTS:
        return value.base
    return value.inputs[0] if value.made_by in VIEWS and value.inputs else None


def _elsewhere(value: Tensor, call: ir.Call, line: cst.CSTNode, path: Guard) -> Computation:
    """The activation that code of another file has applied last; `call` is what led there."""
    return Computation(value.made_by, "function", "", (), {}, value, call, line, path, alone=False)


def _applied(activation: Computation) -> Step:
    """Where the activation is applied; the graph remembers it of another file."""
    result = activation.result
    if not activation.spelling and isinstance(result, Tensor):
        for _, node in result.grad_fn:
            return Step(node.origin.origin, f"`{activation.name}` is applied here")
        return Step(activation.node, f"`{activation.name}` is applied in what is called here, in another file")
    return Step(activation.node, f"`{activation.name}` is applied here")
