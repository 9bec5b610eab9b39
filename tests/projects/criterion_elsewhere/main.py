"""A loss of another file is given probabilities: what it does shows nowhere."""

import losses
import torch
from losses import criterion
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=1)


def train(net, loader):
    for x, y in loader:
        loss = criterion(torch.softmax(net(x), dim=1), y)  # warning: [TLN601]
        loss.backward()


def train_with_the_module(loader):
    net = Net()
    for x, y in loader:
        loss = losses.criterion(net(x), y)  # warning: [TLN601]
        loss.backward()


def train_with_what_was_chosen(loader):
    net = Net()
    for x, y in loader:
        loss = losses.chosen(net(x), y)
        loss.backward()


def train_on_logits(loader):
    net = nn.Linear(3, 4)
    for x, y in loader:
        loss = criterion(net(x), y)
        loss.backward()
        print(torch.softmax(net(x), dim=1).argmax(1))


losses.choose(lambda probabilities, y: -probabilities[range(2), y].mean())
batches = [(torch.rand(2, 3), torch.tensor([0, 1]))]
train(nn.Linear(3, 4), batches)
train_with_the_module(batches)
train_with_what_was_chosen(batches)
train_on_logits(batches)
