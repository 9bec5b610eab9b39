"""T14, cured: built from its parts."""

import torch
from torch import nn


class Extend(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        last = x[0] * x[0]
        y = torch.cat([x, last.unsqueeze(0)])
        return y[0]


x = torch.rand(2, requires_grad=True)
model = Extend()
y = model(x)
y.backward()
print(x.grad)
