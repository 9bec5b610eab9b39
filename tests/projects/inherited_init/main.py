"""Raises: modified by an inplace operation"""

import torch
from basis import Basis, identity, layer_of


class Net(Basis):
    def forward(self, x):
        y = identity(self.linear(x)).sigmoid()
        y += 1  # error: [TLN201]
        return y


class Deeper(Net):
    def __init__(self):
        super().__init__(3, layer_of)
        self.act = self.act.train()


Deeper()(torch.ones(2, 3)).sum().backward()
