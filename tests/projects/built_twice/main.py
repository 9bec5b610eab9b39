"""Raises: modified by an inplace operation"""

import torch
from gates import Gate
from torch import nn


class Pair(nn.Sequential):
    def __init__(self, features):
        super().__init__(nn.Linear(features, features), Gate())


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.pair = Pair(features)

    def forward(self, x):
        y = self.pair(x)
        y += 1  # error: [TLN201]
        return y


def build(features):
    return Net(features)


# so that the script does not see what is built
globals()["build"](3)(torch.rand(2, 3)).sum().backward()
