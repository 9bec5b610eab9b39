"""T5, cured twice: make a scalar, or say how the elements are weighed. The gradients are equal."""

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.rand(n))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weights


scale = Scale(5)
x = torch.rand(5)

torch.sum(scale(x)).backward()
of_sum = scale.weights.grad.clone()

scale.zero_grad()
scale(x).backward(gradient=torch.ones(5))
assert torch.allclose(scale.weights.grad, of_sum)
