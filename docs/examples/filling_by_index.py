"""
T14: a tensor filled by index.

`y[2] = ...` is in place: it moves the version of the whole of `y`, of which `*` has just saved an element.
"""

import torch
from torch import nn


class Extend(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(3)
        y[:2] = x  # strict: [TLN205]
        y[2] = x[0] * y[0]  # error: [TLN205]  # strict: [TLN220, TLN220]
        return y[0]  # strict: [TLN220]


x = torch.rand(2, requires_grad=True)
model = Extend()
y = model(x)
y.backward()
