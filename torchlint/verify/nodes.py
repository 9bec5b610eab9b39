"""
The graph node of a tensor, where torch tells it.

Runs inside the child, and in programs that are watched. Only looks, and never raises: a program must not end with what
nobody but the one who looks has asked.
"""

from __future__ import annotations

from typing import Any

import torch


def node_of(tensor: torch.Tensor) -> Any:
    """
    `Tensor.grad_fn`; None for leaves, and where torch refuses to tell.

    It refuses for a view that was made without grad mode of what requires grad, once one of them was written: which
    node it has is ambiguous (`check_on_view`, torch/csrc/autograd/variable.cpp). `nn.Embedding(…, padding_idx=0)`
    makes and writes such a view, and nothing is wrong with that.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def is_leaf(tensor: torch.Tensor) -> bool:
    """`Tensor.is_leaf`; False where torch refuses to tell, as of `node_of`."""
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:
        return False
