"""
Sees leaves that a backward reaches only through operations whose gradient is zero everywhere.

These are the operations whose formula in torch's `derivatives.yaml` is `zeros_like(grad)`: rounding, signs, draws. Does
not judge.
"""

from __future__ import annotations

from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import OnlyZeroGradients
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import PendingEvents
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, GraphNode, Tensor
from torchlint.syntax import ir
from torchlint.syntax.features import Concern

_ZERO = ("Round", "Floor", "Ceil", "Trunc", "Sign", "Bernoulli")
_NODES = frozenset(f"{name}Backward{number}" for name in _ZERO for number in range(4))
_WORDS = frozenset(
    f"{name}{end}" for name in ("round", "floor", "ceil", "trunc", "fix", "sign", "bernoulli") for end in ("", "_")
)


class ZeroGradients(Observer):
    """Raises `OnlyZeroGradients`."""

    words = tuple(sorted(_WORDS))
    concerns = (Concern(anywhere=(_WORDS, frozenset({"backward", "grad"}))),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine, attested=True)
        self._taught: set[int] = set()
        self._kept: list[Tensor] = []

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._taught.clear()
        self._kept.clear()

    def concluded(self) -> None:
        self.pending.flush()
        self._taught.clear()
        self._kept.clear()

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
        self.pending.ran_backward()
        zero = [node for node in nodes if node.name in _NODES]
        reached, first = _reached(root)
        self._taught |= {id(leaf) for leaf in reached}
        self._kept += reached
        if not zero or any(node.opaque for node in nodes) or self.machine.foreign_call is not None:
            return
        known = {id(leaf) for leaf in reached}
        lost = [leaf for leaf in leaves if id(leaf) not in known and leaf.requires_grad.truth() is Truth.YES]
        first = [node for node in first if node.foreign_call is None]
        if not lost or not first or callee == "autograd.grad":
            return
        self._kept += lost
        nearest = max(first, key=lambda node: node.time)
        leaf = next((each for each in lost if each.name), lost[0])
        event = OnlyZeroGradients(
            node=origin.origin,
            statement=self.machine.line(),
            trace=(Step(nearest.origin.origin, f"the gradient of `{nearest.op}` is zero everywhere"),),
            op=nearest.op,
            leaf=self.machine.facts(leaf),
            count=len(lost),
        )
        self.pending.add(event, nearest.condition.guard() or frozenset(), valid=lambda: id(leaf) not in self._taught)


def _reached(root: Tensor) -> tuple[list[Tensor], list[GraphNode]]:
    """The leaves that some way leads to without an operation of zero gradient, and the first such operations."""
    leaves: list[Tensor] = []
    zero: list[GraphNode] = []
    seen: set[int] = set()
    pending: list[GraphNode | Tensor] = [node for _, node in root.grad_fn] or [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Tensor):
            leaves.append(node)
        elif node.name in _NODES:
            zero.append(node)
        else:
            pending += [target for _, target in node.edges]
            if node.output_of is not None:
                pending.append(node.output_of)
    return leaves, zero
