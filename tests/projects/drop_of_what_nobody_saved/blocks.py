"""The same layer on what no operation has saved."""

from drop import DropConnect
from torch import nn


class Skipping(nn.Module):
    def __init__(self, wide, planes, rate=0.2):
        super().__init__()
        self.skips = wide == planes
        if self.skips:
            self.drop = DropConnect(rate) if rate > 0 else nn.Identity()
        self.linear = nn.Linear(wide, planes)

    def forward(self, x):
        y = self.linear(x)
        if self.skips:
            return x + self.drop(y)
        return y


class Asked(nn.Module):
    def __init__(self, wide, rate):
        super().__init__()
        self.drop = DropConnect(rate) if rate > 0 else nn.Identity()
        self.linear = nn.Linear(wide, wide)

    def forward(self, x):
        y = self.linear(x)
        return x.sigmoid() + self.drop(y)
