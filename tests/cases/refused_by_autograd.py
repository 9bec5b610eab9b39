# ruff: noqa
"""Programs for TLN118."""

import pytest
import torch
from torch import nn


def out_of_a_parameter():
    """Raises: arguments don't support automatic differentiation"""
    layer, buffer = nn.Linear(3, 3), torch.empty(3)
    torch.matmul(layer.weight, torch.ones(3), out=buffer)  # error: [TLN118]


def detached_in_place():
    """Raises: Can't detach views in-place"""
    hidden = torch.zeros(2, 3)
    part = hidden[:, 0]
    part.detach_()  # error: [TLN118]


def hook_on_data():
    """Raises: cannot register a hook on a tensor that doesn't require gradient"""
    x = torch.rand(2, 3)
    x.register_hook(print)  # error: [TLN118]


def gradient_of_the_input_kept():
    """Raises: can't retain_grad on Tensor that has requires_grad=False"""
    x = torch.rand(2, 3)
    x.retain_grad()  # error: [TLN118]
    nn.Linear(3, 1)(x).sum().backward()


def under_no_grad():
    """Raises: can't retain_grad on Tensor that has requires_grad=False"""
    layer = nn.Linear(3, 1)
    with torch.no_grad():
        y = layer(torch.ones(2, 3))
    y.retain_grad()  # error: [TLN118]


def integers():
    """Raises: can require gradients"""
    index = torch.arange(4)
    index.requires_grad_()  # error: [TLN118]


def a_parameter_of_integers():
    """Raises: can require gradients"""

    class Offsets(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.Parameter(torch.arange(4))  # error: [TLN118]

    Offsets()


def flag_of_a_mask():
    """Raises: can require gradients"""
    mask = torch.rand(3) > 0.5
    mask.requires_grad = True  # error: [TLN118]


def allowed():
    w = torch.ones(3, requires_grad=True)
    found = torch.empty((), dtype=torch.long)
    torch.argmax(w, out=found)
    same = torch.empty(3, dtype=torch.bool)
    torch.eq(w, w, out=same)
    with torch.no_grad():
        torch.add(w, w, out=torch.empty(3))
    torch.add(w.detach(), 1, out=torch.empty(3))
    (w * 2).detach_()
    w.detach()[:2]
    w.data.detach_()
    w.retain_grad()
    w.register_hook(lambda grad: grad)


def integers_without_grad():
    steps = nn.Parameter(torch.arange(4), requires_grad=False)
    mask = torch.zeros(3, dtype=torch.bool).requires_grad_(False)
    whole = torch.arange(3.0, requires_grad=True)
    floats = torch.tensor([1, 2], dtype=torch.float32, requires_grad=True)
    converted = nn.Parameter(torch.arange(4).float())
    complex_ = torch.zeros(2, dtype=torch.complex64, requires_grad=True)


def asked_first():
    x = torch.rand(2, 3)
    if x.requires_grad:
        x.register_hook(print)
        x.retain_grad()
    if x.is_floating_point():
        x.requires_grad_()


def expected():
    x = torch.rand(2, 3)
    with pytest.raises(RuntimeError):
        x.register_hook(print)
    try:
        x.retain_grad()
    except RuntimeError:
        pass


def told_by_the_caller():
    def watch(x, layer):
        y = layer(x)
        y.retain_grad()
        y.register_hook(lambda grad: grad)
        torch.mul(x, 2, out=torch.empty(2, 3))
        return y

    watch(torch.ones(2, 3), nn.Linear(3, 1))


def a_share_for_a_parameter():
    class Block(nn.Module):
        def __init__(self, features, scale=None):
            super().__init__()
            self.scale = nn.Parameter(torch.full((features,), fill_value=scale))
            self.shift = nn.Parameter(torch.full((features,), 2**-features))

    def blocks(features, count: int = 8):
        return nn.ModuleList([Block(features, scale=1 / count) for _ in range(count)])

    def shares(features, count: int = 8, rate: float = 0.5):
        whole = nn.Parameter(torch.full((features,), count * rate))
        return whole, nn.Parameter(torch.full((features,), count - 0.5)), nn.Parameter(torch.full((features,), 1.0 * count))

    blocks(4)
    shares(3)


def filled_with_a_number_that_is_no_integer():
    value = max([0.5, 1.5], key=eval("abs"))
    torch.full((1,), value, requires_grad=True)
    torch.full((1,), fill_value=value, requires_grad=True)


def filled_with_an_integer():
    """Raises: floating point"""
    torch.full((1,), max([1, 2], key=eval("abs")), requires_grad=True)  # error: [TLN118]


def written_out_of_what_is_cast_to_an_unknown_dtype():
    w = torch.ones(3, requires_grad=True)
    whole = (w * 2).to(eval("torch.int64"))
    torch.sigmoid(whole, out=torch.ones(3))


def written_out_of_what_is_recorded():
    """Raises: arguments don't support automatic differentiation"""
    w = torch.ones(3, requires_grad=True)
    torch.sigmoid((w * 2).to(torch.float64), out=torch.ones(3, dtype=torch.float64))  # error: [TLN118]
