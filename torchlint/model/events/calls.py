"""
Events about calls that are missing: methods looked up and not called, grad-mode contexts made and not entered.
"""

from __future__ import annotations

from typing import Literal

from torchlint.model.events import Event
from torchlint.record import record
from torchlint.syntax import cst


@record(frozen=True, kw_only=True)
class MethodNotCalled(Event):
    """
    A method stands where its call was meant.

    Attributes
    ----------
    method
        The expression: `loss.backward`, `model.state_dict`, `torch.no_grad`.
    name
        Its last name.
    place
        "statement": alone as a statement. "saved": an argument of `torch.save`. "with": a context of a `with`
        statement.
    """

    method: cst.BaseExpression
    name: str
    place: Literal["statement", "saved", "with"]


@record(frozen=True, kw_only=True)
class GradModeNotEntered(Event):
    """
    `torch.no_grad()` or the like stands alone as a statement: it sets nothing.

    Attributes
    ----------
    call
        The call.
    name
        `no_grad`, `inference_mode`, `enable_grad`.
    """

    call: cst.Call
    name: str
