import torch
from nets import Classifier, Gate, build
from nets.classifier import step
from torch import nn


def train(loader, epochs):
    model = Classifier(3)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
    return model


def train_with_a_helper(loader):
    model = build(3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        for x, y in loader:
            step(model, optimizer, nn.functional.cross_entropy(model(x), y))


def accumulate(loader):
    model = build(3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        for x, y in loader:
            nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def train_gate(loader):
    gate = Gate()
    optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy(gate(x), y.float()).backward()
        optimizer.step()


batches = [(torch.rand(4, 8), torch.tensor([0, 1, 1, 0]))]
train(batches, 2)
train_with_a_helper(batches)
accumulate(batches)
train_gate(batches)
