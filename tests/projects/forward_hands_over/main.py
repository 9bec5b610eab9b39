"""Raises: modified by an inplace operation"""

import ops
import torch
from ops import Clamp, halve_
from torch import nn


class Halved(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.exp(self.linear(x))
        halve_(y)  # error: [TLN201]
        return y


class Shrunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.sigmoid(self.linear(x))
        ops.shrink(y, 2)  # error: [TLN201]
        return y


class Clamped(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.clamp = Clamp()

    def forward(self, x):
        y = torch.sigmoid(self.linear(x))
        return self.clamp(y)  # error: [TLN205]


class ShrunkCopy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return ops.shrunk(torch.sigmoid(self.linear(x)))


class HalvedSum(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.clamp = Clamp()

    def forward(self, x):
        return self.clamp(halve_(self.linear(x) + x))


class HalvedMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        mask = halve_(torch.ones(4))
        return self.linear(x) * mask


x = torch.rand(2, 4)
for network in (ShrunkCopy(), HalvedSum(), HalvedMask()):
    network(x).sum().backward()
for network in (Halved(), Shrunk(), Clamped()):
    try:
        network(x).sum().backward()
        raise SystemExit(type(network).__name__)
    except RuntimeError as error:
        last = error
raise last
