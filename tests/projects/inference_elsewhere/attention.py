import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 12)

    def forward(self, x, adapter=None):
        q, k, v = self.project(x).split(4, dim=-1)
        if adapter is not None:
            q += adapter(x)  # warning: [TLN209]
            v += adapter(x)
        return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v


def sharpened(x):
    first, second = nn.Linear(4, 4)(x).chunk(2, dim=-1)
    first *= 2  # warning: [TLN209]
    return first + second
