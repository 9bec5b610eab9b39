"""Of a model of another file, what a loop does with its gradients and its mode is known."""

import torch
from model import Logits
from torch import nn
from zeroing import reset


def zeroed_elsewhere(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        reset(model)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def evaluated(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()  # warning: [TLN407]
        with torch.no_grad():
            print(sum(model(x).argmax(1).eq(y).sum().item() for x, y in loader))


def zeroed_and_restored(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()


loader = [(torch.rand(2, 4), torch.tensor([0, 2]))] * 2
zeroed_elsewhere(loader)
evaluated(loader)
zeroed_and_restored(loader)
