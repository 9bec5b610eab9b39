"""Raises: modified by an inplace operation"""

import torch
from sparse import Attention, Sparse
from torch import nn


class Chosen(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear, self.select = nn.Linear(features, features), Sparse()

    def forward(self, x):
        x = self.select(self.linear(x))
        x.clamp_(min=0.1)  # error: [TLN201]
        return x


class Kept(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear, self.select = nn.Linear(features, features), Sparse()

    def forward(self, x):
        x = self.linear(x)
        y = self.select(x)
        x += 1  # the result is saved, not what it is made of
        return y


class Skipping(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first, self.linear, self.select = Attention(), nn.Linear(features, features), Sparse()

    def forward(self, x, skip=None):
        if skip is not None:
            x = torch.cat([x, skip])
            x = self.first(x)
        x = self.linear(x)
        x = self.select(x)
        x += 1  # error: [TLN201]
        return x


Kept(3)(torch.rand(2, 3)).sum().backward()
for net in (Skipping(3), Chosen(3)):
    net(torch.rand(2, 3)).sum().backward()
