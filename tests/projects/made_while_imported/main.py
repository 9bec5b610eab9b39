"""Raises: modified by an inplace operation"""

import torch
from sizes import Layer
from torch import nn


def train(x):
    net = nn.Sequential(Layer(4), nn.Linear(4, 4))
    y = net(x).sigmoid()
    y.mul_(2)  # error: [TLN201]
    y.sum().backward()


train(torch.rand(3, 4))
