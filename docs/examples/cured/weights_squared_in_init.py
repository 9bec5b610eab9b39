"""T4, cured twice: square the first value inside of the parameter, or square the weights in `forward`."""

import torch
from torch import nn


class ScaleBySquaredStart(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.rand(n) ** 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weights


class ScaleBySquare(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.rand(n))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weights**2


x = torch.rand(5)
for scale in (ScaleBySquaredStart(5), ScaleBySquare(5)):
    print("parameters:", list(scale.named_parameters()))
    for _ in range(2):
        scale.zero_grad()
        y = torch.sum(scale(x))
        y.backward()
