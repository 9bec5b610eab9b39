"""
Gradients that are computed to be differentiated, and gradients that could be and are not: `create_graph`.

Follows torch.autograd.grad (https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html): without
`create_graph=True` its results have no graph. Does not judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import ConstantGradientTerm
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import PendingEvents
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import GRAD_NO, Function, GraphNode, Tensor, Value, reachable_tensors
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATING

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

_ADDITIVE = frozenset({"add", "sub", "__rsub__", "rsub", "neg", "sum", "mean"})
_SCALING = frozenset({"mul", "div"})
_NORMS = frozenset(
    "norm pow square abs sqrt vector_norm var std relu clamp clamp_min max logsumexp mse_loss l1_loss exp".split()  # noqa: SIM905
)


class Penalties(Observer):
    """Watches sums that are differentiated for terms computed from a gradient without a graph."""

    words = ("grad(",)
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine)
        self._added: dict[int, list[Tensor]] = {}

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)

    def concluded(self) -> None:
        self.pending.flush()
        self._added.clear()

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        if spelling in ("torch.Tensor.add_", "torch.Tensor.sub_") and isinstance(result, Tensor):
            others = [tensor for name, value in bound.items() if name != "self" for tensor in reachable_tensors(value)]
            self._added.setdefault(id(result), []).extend(others)

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
        if root.requires_grad.truth() is not Truth.YES or not nodes:  # unknown code may have it start at the root
            return
        for term in self._constant_terms(root):
            gradient = self._penalised(term)
            if gradient is None or not isinstance(gradient.origin.origin, cst.Call):
                continue
            call = gradient.origin.origin
            steps = [Step(call, "this gradient has no graph")]
            if term.origin.origin is not call:
                steps.append(Step(term.origin.origin, "a term of the loss is computed from it"))
            event = ConstantGradientTerm(
                node=call,
                statement=gradient.line,
                trace=(*steps, Step(origin.origin, "backward passes the term by")),
                call=call,
                term=self.machine.facts(term),
                root=self.machine.facts(root),
            )
            self.pending.add(event)

    def _constant_terms(self, root: Tensor) -> list[Tensor]:
        """What is added up to the root and does not require grad."""
        found: list[Tensor] = []
        pending, seen = [root], set()
        while pending:
            tensor = pending.pop()
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if tensor.requires_grad == GRAD_NO:
                found.append(tensor)
                continue
            pending += self._added.get(id(tensor), [])
            name = tensor.op.rpartition(".")[2]
            if name in _ADDITIVE:
                pending += tensor.inputs
            elif name in _SCALING:  # a constant factor is a weight, no term
                pending += [each for each in tensor.inputs if each.requires_grad != GRAD_NO]
        return found

    def _penalised(self, term: Tensor) -> Tensor | None:
        """The gradient that a constant is computed from by a norm or the like."""
        pending, seen = [(term, False)], set()
        while pending:
            tensor, bent = pending.pop()
            if tensor.made_by == "autograd.grad" and bent:
                return tensor
            if (id(tensor), bent) in seen or tensor.requires_grad != GRAD_NO:
                continue
            seen.add((id(tensor), bent))
            name = tensor.op.rpartition(".")[2]
            squared = name == "mul" and len(tensor.inputs) == 2 and tensor.inputs[0] is tensor.inputs[1]
            pending += [(each, bent or name in _NORMS or squared) for each in tensor.inputs]
        return None
