import torch
from torch import nn


class Network(nn.Module):
    """What it has computed itself is given to a layer that nobody knows."""

    def __init__(self, layer):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.layer = layer

    def forward(self, x, mask):
        x = x * self.scale
        return self.layer(x, mask) * self.scale
