"""
T5: backward from a vector.

Autograd computes vector-Jacobian products; only a scalar goes without the vector.
"""

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.rand(n))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weights


scale = Scale(5)
y = scale(torch.rand(5))
y.backward()  # error: [TLN103]
