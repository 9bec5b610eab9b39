import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.lin = nn.Linear(2, levels)
        self.stride = torch.ones(3)  # the model's `_apply` moves it

    def forward(self, x):
        return self.lin(x) * self.stride


class Shift(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.lin = nn.Linear(levels, levels)
        self.offset = torch.ones(3)  # smell: [TLN311]

    def forward(self, x):
        return self.lin(x) + self.offset
