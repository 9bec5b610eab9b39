import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.inner(x))
