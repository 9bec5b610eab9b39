"""Raises: modified by an inplace operation"""

import torch
from blocks import Gate, normalise_


def loss_of(gate, x):
    h = torch.exp(gate(x))
    normalise_(h)  # error: [TLN201]
    return h.mean()


def loss_of_copy(gate, x):
    h = torch.exp(gate(x))
    normalise_(h.clone())
    return h.mean()


def train(loader, copying):
    gate = Gate()
    optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
    for x in loader:
        loss = loss_of_copy(gate, x) if copying else loss_of(gate, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train([torch.rand(2, 4)], copying=True)
train([torch.rand(2, 4)], copying=False)
