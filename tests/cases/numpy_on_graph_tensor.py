# ruff: noqa
"""Programs for TLN111."""

import numpy as np
import torch
from torch import nn


def losses_for_a_plot():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    history = []
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        history.append(loss.numpy())  # error: [TLN111]


def weights_of_a_layer():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    w = net.weight.cpu().numpy()  # error: [TLN111]


def prediction_compared():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    target = np.zeros((3, 1))
    prediction = net(torch.rand(3, 2))
    close = np.allclose(prediction, target)  # error: [TLN111]


def scaled_in_numpy():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    log_var = torch.zeros(3, requires_grad=True)
    std = np.exp(log_var)  # error: [TLN111]


def batch_of_losses():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    first, second = net(torch.rand(2)).sum(), net(torch.rand(2)).sum()
    average = np.stack((first, second))  # error: [TLN111]


def training_function():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train_epoch(batches):
        for x in batches:
            optimizer.zero_grad()
            out = net(x)
            out.mean().backward()
            optimizer.step()
            print(out.numpy())  # error: [TLN111]

    train_epoch(torch.rand(2, 3, 2))


def loss_of_an_unknown_model():
    """Raises: Can't call numpy() on Tensor that requires grad"""

    def step(model, criterion, x, y):
        loss = criterion(model(x), y)
        loss.backward()
        return loss.numpy()  # error: [TLN111]

    step(nn.Linear(2, 1), nn.MSELoss(), torch.rand(3, 2), torch.rand(3, 1))


def detached():
    net = nn.Linear(2, 1)
    out = net(torch.rand(3, 2))
    print(out.detach().cpu().numpy(), np.mean(out.data.numpy()), out.tolist())


def under_no_grad():
    net = nn.Linear(2, 1)

    def predict(x):
        return net(x).numpy()

    with torch.no_grad():
        print(predict(torch.rand(3, 2)), net.weight.numpy())


def decorated():
    @torch.no_grad()
    def evaluate(net, x):
        return np.asarray(net(x))

    print(evaluate(nn.Linear(2, 1), torch.rand(3, 2)))


def forced():
    net = nn.Linear(2, 1)
    print(net(torch.rand(3, 2)).numpy(force=True))


def labels():
    net = nn.Linear(2, 3)
    guess = net(torch.rand(4, 2)).argmax(dim=1)
    print(guess.numpy(), np.unique(guess))


def data_alone():
    x = torch.rand(4, 2)
    print(x.numpy(), np.sqrt(x))


def called_by_others():
    """A function that doesn't train may be called under `no_grad`."""
    net = nn.Linear(2, 1)

    def act(observation):
        return net(observation).numpy()


def FN_list_of_losses():
    """
    Raises: Can't call numpy() on Tensor that requires grad

    Unknown code may change a list it's given, and the model takes NumPy's for such.
    """
    net = nn.Linear(2, 1)
    first, second = net(torch.rand(2)).sum(), net(torch.rand(2)).sum()
    average = np.mean([first, second])
