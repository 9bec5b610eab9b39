"""
Backward passes whose gradients go to no parameter of an optimizer.

Asked and told by `optimizing`; watches nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.model.autograd.writes import is_none
from torchlint.model.events.trace import Step
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Tensor
from torchlint.syntax import ir


class Backwards:
    """The backward passes of an entry point, and the leaves that each has reached."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._passes: list[tuple[Step, list[Tensor], Guard]] = []

    def note(self, leaves: list[Tensor], origin: ir.Node) -> None:
        """A pass ran, or code that may have run one: with no leaves, nobody knows which it reached."""
        self._passes.append((Step(origin.origin, "its gradients go to other tensors"), leaves, self._machine.guard))

    def missed_by(self, parameters: Sequence[Tensor]) -> Step | None:
        """The last pass, if none reached any of these, which have no gradient from elsewhere either."""
        if self._machine.assumed - self._machine.path or not self._passes:
            return None
        if any(not leaves or not path <= self._machine.path for _, leaves, path in self._passes):
            return None
        if any(is_none(tensor.grad) is not Truth.YES for tensor in parameters):
            return None
        reached = [leaf for _, leaves, _ in self._passes for leaf in leaves]
        if any(tensor is leaf for tensor in parameters for leaf in reached):
            return None
        return self._passes[-1][0]
