import torch
from blocks import Gate
from scaling import rescale
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate(4)
        self.head = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = self.gate(x)
        return self.head(x * rescale(gate, 0.5))
