"""Raises: modified by an inplace operation"""

import torch
from template import Residual


class Block(Residual):
    def branch(self, x):
        y = torch.tanh(x)
        y += x  # error: [TLN201]
        return y


x = torch.ones(2, requires_grad=True)
Block()(x).sum().backward()
