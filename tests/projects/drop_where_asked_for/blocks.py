"""One by default, and under a condition of `forward`; one where its caller asks for it."""

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
        y = self.linear(x).sigmoid()
        if self.skips:
            return x + self.drop(y)  # warning: [TLN201]
        return y


class Asked(nn.Module):
    def __init__(self, wide, rate):
        super().__init__()
        self.drop = DropConnect(rate) if rate > 0 else nn.Identity()
        self.linear = nn.Linear(wide, wide)

    def forward(self, x):
        y = self.linear(x).sigmoid()
        return x + self.drop(y)  # warning: [TLN201]
