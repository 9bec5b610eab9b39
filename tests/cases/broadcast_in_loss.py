# ruff: noqa
"""Programs for TLN606."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def regression_in_a_training_loop():
    """Warns: Using a target size"""
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.rand(16, 4), torch.rand(16)
    for _ in range(3):
        optimizer.zero_grad()
        loss = criterion(model(x), y)  # warning: [TLN606]
        loss.backward()
        optimizer.step()


def value_head():
    """Warns: Using a target size"""

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.value = nn.Linear(3, 1)

        def forward(self, state):
            return self.value(state)

    returns = torch.rand(5)
    values = Critic()(torch.rand(5, 3))
    loss = F.smooth_l1_loss(values, returns)  # warning: [TLN606]


def target_with_the_extra_dimension():
    """Warns: Using a target size"""
    predicted, target = torch.rand(6), torch.rand(6, 1)
    loss = F.l1_loss(predicted, target)  # warning: [TLN606]


def written_by_hand():
    """Holds: (out - y).numel() == 49"""
    fc = nn.Linear(2, 1)
    y = torch.rand(7)
    out = fc(torch.rand(7, 2))
    loss = torch.mean((out - y) ** 2)  # warning: [TLN606]


def squeezed():
    fc = nn.Linear(2, 1)
    y = torch.rand(7)
    x = torch.rand(7, 2)
    F.mse_loss(fc(x).squeeze(-1), y).backward()
    F.mse_loss(fc(x)[:, 0], y).backward()
    F.mse_loss(fc(x), y.view(-1, 1)).backward()


def weights_of_a_loss():
    prediction, target, weight = torch.rand(7, 3), torch.rand(7, 3), torch.rand(3)
    loss = (weight * (prediction - target) ** 2).mean()
    centred = ((prediction - prediction.mean(0)) ** 2).mean()


def all_pairs():
    x, y = torch.rand(5), torch.rand(4)
    distances = ((x.unsqueeze(1) - y) ** 2).mean()
    kernel = torch.exp(-((x[:, None] - x[None, :]) ** 2)).sum()


def one_row():
    fc = nn.Linear(2, 1)
    loss = ((fc(torch.rand(1, 2)) - torch.rand(1)) ** 2).mean()


def shapes_unknown():
    def loss_of(prediction, target):
        return F.mse_loss(prediction, target)

    loss_of(torch.rand(3), torch.rand(3))


def one_value_of_a_sequence_for_the_batch():
    """Warns: Using a target size (torch.Size([1, 1])) that is different to the input size"""
    readout, criterion = nn.Linear(4, 1), nn.MSELoss()
    wave = torch.sin(torch.linspace(0, 6, 7))
    for t in range(6):
        guess = readout(torch.zeros(10, 4))
        loss = criterion(guess, wave[t + 1].view(1, 1))  # smell: [TLN606]


def mean_kept_as_an_axis():
    """Warns: that is different to the input size"""
    image, other = torch.rand(2, 3, 8, 8), torch.rand(2, 3, 8, 8)
    loss = F.l1_loss(image, other.mean(1, keepdim=True))  # smell: [TLN606]


def first_row_for_all():
    """Warns: that is different to the input size"""
    rows = torch.rand(5, 3)
    loss = F.smooth_l1_loss(rows, rows[:1])  # smell: [TLN606]


def targets_of_the_same_size():
    guess = torch.rand(10, 1)
    nn.MSELoss()(guess, torch.rand(10, 1))
    nn.MSELoss()(guess, torch.rand(1, 1).expand(10, 1))
    F.l1_loss(torch.rand(2, 3, 8, 8).mean(1, keepdim=True), torch.rand(2, 1, 8, 8))
    F.mse_loss(torch.rand(1, 1), torch.rand(1, 1))


def one_number_for_all_is_meant():
    import warnings

    warnings.simplefilter("ignore")
    F.mse_loss(torch.rand(10, 1), torch.tensor(1.0))
    F.mse_loss(torch.rand(10, 3), torch.rand(3))


def number_of_samples_that_nobody_knows():
    """Holds: shapes == [(7, 1), (7,)]"""
    shapes = []

    def train(head, n):
        x = torch.rand(n, 4)
        y = torch.rand(n)
        shapes.extend((tuple(head(x).shape), tuple(y.shape)))
        return F.mse_loss(head(x), y)  # warning: [TLN606]

    train(nn.Linear(4, 1), 7).backward()


def sizes_that_may_be_several():
    def train(head, n):
        x = torch.rand(n) if isinstance(n, tuple) else torch.rand(n, 4)
        y = torch.rand(n[:-1] + (1,)) if isinstance(n, tuple) else torch.rand(n, 1)
        return F.mse_loss(head(x), y)

    train(nn.Linear(4, 1), (7, 4)).backward()
    train(nn.Linear(4, 1), 7).backward()
