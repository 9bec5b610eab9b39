"""Raises: modified by an inplace operation"""

import torch
from sizes import Layer


def train(x):
    y = Layer()(x).sigmoid()
    y.mul_(2)  # error: [TLN201]
    y.sum().backward()


train(torch.rand(3, 4))
