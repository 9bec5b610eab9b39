"""
Events of work that need not be done: copies, products, slices and concatenations that cost more than they must.

Raised by the observers `copies`, `products`, `slices` and `growth`. Counts of floating-point operations are those of
the forward pass, an (m×k)(k×n) product counted as m·n·(2k−1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import libcst as cst

from torchlint.model.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorCopied(Event):
    """
    A tensor is copied by a constructor that takes data: `torch.tensor(t)`, `x.new_tensor(t)`.

    Attributes
    ----------
    how
        "tensor" or "new_tensor".
    call
        The call.
    data
        The expression that is the copied tensor.
    argument
        The argument that holds it.
    receiver
        `x` in `x.new_tensor(t)`.
    in_graph
        Whether the tensor is known to require grad: the copy leaves the graph.
    plain
        No argument is a `*args` or `**kwargs`.
    """

    how: Literal["tensor", "new_tensor"]
    call: cst.Call
    data: cst.BaseExpression
    argument: cst.Arg
    receiver: cst.BaseExpression | None
    in_graph: bool
    plain: bool
