"""The gradients of a model of another file are never zeroed."""

import torch
from model import Logits
from torch import nn


def never_zeroed(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()  # warning: [TLN402]


never_zeroed([(torch.rand(2, 4), torch.tensor([0, 2]))] * 2)
