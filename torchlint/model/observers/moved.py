"""
Leaves that a move to a device may replace by a copy: what the value is on another device, and under which condition.

No observer itself. `x.to(device)` gives `x` where it is there already, and else the result of a recorded operation,
which is no leaf (https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html).
"""

from __future__ import annotations

from torchlint.condition import Condition
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import GRAD_YES, Choice, Tensor, Value
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted


def moved(value: Value) -> tuple[Tensor, Condition] | None:
    """The copy of a leaf on the CPU that a value is wherever the device asked for is another one; None otherwise."""
    if not isinstance(value, Choice) or len(value.alternatives) != 2:
        return None
    (_, one), (_, other) = value.alternatives
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return None
    leaf, copy = (one, other) if one.is_leaf is Truth.YES else (other, one)
    if leaf.own != GRAD_YES or leaf.is_leaf is not Truth.YES or leaf.device != "cpu":
        return None
    if copy.op != "torch.Tensor.to" or copy.is_leaf is not Truth.NO or copy.inputs[0] is not leaf:
        return None
    asked = _asked(copy.origin)
    return (copy, Condition("device", asked)) if asked else None


def _asked(origin: ir.Node) -> str:
    """The device that a call of `to` names, as the program writes it."""
    if not isinstance(origin, ir.Call):
        return ""
    written = next((each.value for each in origin.arguments if each.keyword in ("", "device") and not each.star), None)
    if isinstance(written, ir.Call) and dotted(written.function) == "torch.device" and written.arguments:
        written = written.arguments[0].value
    return dotted(written)
