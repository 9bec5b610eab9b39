"""A custom Function in the graph: its node keeps what it saved in another way than torch's own do."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from torchlint.verify.leaf_writes import overwritten


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return 2 * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * grad * torch.ones_like(x)


def _broken(root: torch.Tensor) -> list[torch.Tensor]:
    with pytest.raises(RuntimeError) as caught:
        root.sum().backward()
    return list(overwritten([root], str(caught.value)))


def test_what_was_overwritten_is_found_behind_a_custom_function() -> None:
    w = torch.ones(2, requires_grad=True)
    h = torch.sigmoid(Twice.apply(w))
    y = h * w
    h.mul_(2)
    assert {each.data_ptr() for each in _broken(y)} == {h.data_ptr()}


def test_what_was_overwritten_is_found_in_a_custom_function() -> None:
    h = torch.ones(2, requires_grad=True) * 1
    y = Twice.apply(h)
    h.mul_(2)
    assert [each.data_ptr() for each in _broken(y)] == [h.data_ptr()]
