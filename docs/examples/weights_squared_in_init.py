"""
T4: a module squares its weights in `__init__`.

What is assigned is no parameter but the result of `**`. Nothing is registered, so nothing learns; and its graph is
built once and freed by the first backward.
"""

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.rand(n)) ** 2  # error: [TLN301]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weights


scale = Scale(5)
x = torch.rand(5)
print("parameters:", list(scale.named_parameters()))

scale.zero_grad()
y = torch.sum(scale(x))
y.backward()

scale.zero_grad()
y = torch.sum(scale(x))
y.backward()  # error: [TLN101]
