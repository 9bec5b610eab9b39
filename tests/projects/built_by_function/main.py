"""A function that `__init__` has from another file builds a model with a softmax at its end."""

import torch
from nets import build_logits, build_model
from nets.settings import Settings
from torch.nn import functional


def train(settings: Settings, loader):
    model = build_model(settings)
    optimizer = torch.optim.AdamW(model.parameters())
    for x, y in loader:
        predicted = model(x)
        loss = functional.cross_entropy(predicted, y)  # warning: [TLN601]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_on_logits(settings: Settings, loader):
    model = build_logits(settings)
    optimizer = torch.optim.AdamW(model.parameters())
    for x, y in loader:
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


loader = [(torch.rand(2, 4), torch.tensor([0, 2]))] * 2
train(Settings(), loader)
train_on_logits(Settings(), loader)
