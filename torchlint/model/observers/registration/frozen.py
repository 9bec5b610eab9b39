"""
Tensors of an optimizer that require no grad when it steps: `step` passes over them
(https://docs.pytorch.org/docs/stable/optim.html), in the first round, and in the next ones unless they are set to.

Asked and told by `optimizing`; watches nothing itself.
"""

from __future__ import annotations

from torchlint.model.autograd.writes import is_none
from torchlint.model.events.registration import OptimizerGiven
from torchlint.model.state.guards import Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Optimizer, Tensor, Value
from torchlint.syntax import ir


def frozen_in(optimizer: Optimizer) -> Tensor | None:
    """The first tensor, no Parameter, which an optimizer holds and passes over; None if there is none."""
    for tensor in optimizer.parameters:
        frozen = tensor.requires_grad.truth() is Truth.NO and is_none(tensor.grad) is Truth.YES
        nothing = tensor.shape is not None and 0 in tensor.shape  # given because an optimizer wants one
        if frozen and tensor.is_parameter is Truth.NO and not nothing and not _is_switched(tensor):
            return tensor
    return None


def _is_switched(tensor: Tensor) -> bool:
    """Whether its maker says by a switch whether it requires grad: `torch.rand(3, requires_grad=learn)`."""
    given = tensor.origin.arguments if isinstance(tensor.origin, ir.Call) else []
    return any(each.keyword == "requires_grad" and not isinstance(each.value, ir.Constant) for each in given)


class Frozen:
    """What an entry point's steps pass over, until it ends: later lines may have it require grad for the next step."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._found: list[tuple[Tensor, OptimizerGiven]] = []

    def found(self, tensor: Tensor, event: OptimizerGiven) -> None:
        """A step passes over a tensor."""
        self._found.append((tensor, event))

    def required_grad(self, tensor: Tensor, value: Value | None) -> None:
        """A tensor, or what shares its memory, is set to require grad, or may be (None)."""
        if value != Constant(False):
            self._found = [each for each in self._found if each[0].storage is not tensor.storage]

    def conclude(self) -> None:
        """The entry point has ended: what was found is told."""
        for _, event in self._found:
            self._machine.emit(event)
        self._found.clear()

    def __bool__(self) -> bool:
        return bool(self._found)
