"""Raises: modified by an inplace operation"""

import torch
from activations import made, shared
from torch import nn


class Shared(nn.Module):
    def __init__(self, size, act="tanh"):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.act = shared(act)

    def forward(self, x):
        h = self.act(self.linear(x))
        h.mul_(2)  # error: [TLN201]
        return h


class Made(nn.Module):
    def __init__(self, size, act="tanh"):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.act = made(act)

    def forward(self, x):
        h = self.act(self.linear(x))
        h.mul_(2)  # error: [TLN201]
        return h


class Sign(nn.Module):
    """What `relu` saves keeps its sign; what `prelu` gives is not saved."""

    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.act = shared("prelu")

    def forward(self, x):
        h = self.act(self.linear(x))
        h.mul_(2)
        return h


Sign(3)(torch.rand(2, 3)).sum().backward()
for kind in (Made, Shared):
    try:
        kind(3)(torch.rand(2, 3)).sum().backward()
        raise SystemExit(kind.__name__)
    except RuntimeError as error:
        last = error
raise last
