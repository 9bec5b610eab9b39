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


if __name__ == "__main__":
    build(int("3"))(torch.rand(2, 3)).sum().backward()
