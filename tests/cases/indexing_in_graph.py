# ruff: noqa
"""Programs for TLN220."""

import torch
from torch import nn


def loop_over_elements():
    """Holds: 'SelectBackward0' in str(total.grad_fn.next_functions)"""
    x = torch.rand(4, requires_grad=True)
    total = torch.zeros(())
    for i in range(4):
        total = total + x[i]  # strict: [TLN220]
    total.backward()


def last_step_of_a_sequence():
    """Holds: last.grad_fn.name() == 'SelectBackward0'"""
    out = torch.cumsum(nn.Linear(2, 3)(torch.rand(2, 5, 2)), dim=1)
    last = out[:, -1]  # strict: [TLN220]


def columns_of_the_inputs():
    """Holds: x.grad_fn.name() == 'SliceBackward0'"""
    points = torch.rand(5, 2, requires_grad=True)
    x, t = points[:, 0:1], points[:, 1:2]  # strict: [TLN220, TLN220]
    (x * t).sum().backward()


def rows_by_an_index_tensor():
    """Holds: rows.grad_fn.name() == 'IndexBackward0'"""
    table = nn.Embedding(5, 2)
    rows = table.weight[torch.tensor([0, 2])]  # strict: [TLN220]


def data_alone():
    x = torch.rand(5, 2)
    first, label = x[:, 0], int(x[0, 1])


def lists_and_shapes():
    w = torch.rand(3, 2, requires_grad=True)
    parts = [w * 2, w * 3]
    total = parts[0] + parts[1]
    size = w.shape[0] + w.size()[1]
    layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    out = layers[0](w)


def without_recording():
    w = torch.rand(3, 2, requires_grad=True)
    with torch.no_grad():
        row = w[0]
    other = w.detach()[1]


def whole_rows_at_once():
    x = torch.rand(4, requires_grad=True)
    a, b, c, d = x.unbind()
    part = x.narrow(0, 0, 2)
    (a * b + c * d + part.sum()).backward()
