"""A model of another file ends with a softmax, and the loss applies its own: what it does shows nowhere."""

import torch
from model import Logits, Probabilities
from torch import nn


def train(loader):
    net = Probabilities()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)  # warning: [TLN601]
        loss.backward()
        optimizer.step()


def train_on_logits(loader):
    net = Logits()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        print(torch.softmax(net(x), dim=1).argmax(1))


loader = [(torch.rand(2, 4), torch.tensor([0, 2]))] * 2
train(loader)
train_on_logits(loader)
