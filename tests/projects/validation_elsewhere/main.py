"""A function of another file sets the model to evaluation mode, and one sets it back."""

import torch
from evaluation import validate, validate_and_restore
from model import Logits
from torch import nn


def train(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(validate(model, loader))  # warning: [TLN407]


def train_in_training_mode(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(validate(model, loader))


def train_with_mode_restored(loader):
    model = Logits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        print(validate_and_restore(model, loader))


loader = [(torch.rand(2, 4), torch.tensor([0, 2]))] * 2
train(loader)
train_in_training_mode(loader)
train_with_mode_restored(loader)
