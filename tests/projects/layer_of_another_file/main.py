"""Holds: network.scale.grad is not None"""

import torch
from network import Network
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(3, 3)

    def forward(self, x, mask):
        return x + self.own(x) * mask


def train(layer, steps):
    network = Network(layer)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(steps):
        x, mask = torch.rand(2, 3), torch.ones(2, 3)
        optimizer.zero_grad()
        outputs = network(x, mask)
        outputs.sum().backward()
        optimizer.step()
    return network


network = train(eval("Layer()"), 2)
