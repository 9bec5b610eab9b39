"""Losses, of which one is set anew by somebody, and one holds weights."""

import torch
from torch import nn

criterion = nn.CrossEntropyLoss()
weighted = nn.CrossEntropyLoss(weight=torch.ones(4))
chosen = nn.CrossEntropyLoss()


def choose(loss):
    global chosen
    chosen = loss
