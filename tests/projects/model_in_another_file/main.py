import torch
from nets import Classifier, build
from nets.classifier import Gate
from torch import nn


def train(loader, epochs):
    model = Classifier(3)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)  # warning: [TLN601]
            loss.backward()
            optimizer.step()
    return model


def train_without_zeroing(loader):
    model = build(3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)  # warning: [TLN601]
            loss.backward()
            optimizer.step()  # warning: [TLN405]


def train_gate(loader):
    gate = Gate()
    optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(gate(x), y.float()).backward()  # warning: [TLN601]
        optimizer.step()


batches = [(torch.rand(4, 8), torch.tensor([0, 1, 1, 0]))]
train(batches, 2)
train_without_zeroing(batches)
train_gate(batches)
