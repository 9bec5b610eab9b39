import torch
from torch import nn

__all__ = ["Gate", "scale_"]


class Gate(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


def scale_(tensor, factor):
    tensor.mul_(factor)
    return tensor
