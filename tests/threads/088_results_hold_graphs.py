# thread: https://github.com/mrdbourke/pytorch-deep-learning/issues/583
# diagnosis: The training step adds up losses without item(), and the dictionary of results keeps their graphs.
# mistake: 16, 26, 31
# expected: TLN106, TLN111
# symptom: raises RuntimeError: Can't call numpy() on Tensor that requires grad

import torch
from torch import nn


def train_step(model, dataloader, loss_fn, optimizer):
    model.train()
    train_loss = 0
    for X, y in dataloader:
        loss = loss_fn(model(X), y)
        train_loss += loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return train_loss / len(dataloader)


def train(model, dataloader, optimizer, loss_fn=nn.CrossEntropyLoss(), epochs=3):
    results = {"train_loss": []}
    for epoch in range(epochs):
        results["train_loss"].append(train_step(model, dataloader, loss_fn, optimizer))
    return results


def curve(results):
    return [value.numpy() for value in results["train_loss"]]


tiny = nn.Sequential(nn.Flatten(), nn.Linear(48, 3))
data = [(torch.rand(4, 3, 4, 4), torch.randint(0, 3, (4,))) for _ in range(2)]
print(curve(train(tiny, data, torch.optim.Adam(tiny.parameters()))))
