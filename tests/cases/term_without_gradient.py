# ruff: noqa
"""Programs for TLN117."""

import torch
from torch import nn
from torch.nn import functional as F


def penalty_as_a_number():
    """Holds: torch.allclose(layer.weight.grad, again[0])"""
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    error = layer(x).square().mean()
    penalty = layer.weight.abs().sum()
    loss = error + 0.01 * penalty.item()
    loss.backward()  # warning: [TLN117]
    again = torch.autograd.grad(layer(x).square().mean(), layer.weight)


def accuracy_in_the_loss():
    """Holds: not wrong.requires_grad"""
    layer, x, y = nn.Linear(2, 3), torch.rand(4, 2), torch.tensor([0, 1, 2, 0])
    logits = layer(x)
    wrong = (logits.argmax(dim=1) != y).float().mean()
    loss = F.cross_entropy(logits, y) + wrong
    loss.backward()  # warning: [TLN117]


def detached_divergence():
    """Holds: not divergence.requires_grad"""
    encoder, x = nn.Linear(2, 2), torch.rand(4, 2)
    mean = encoder(x)
    divergence = mean.square().sum().detach()
    reconstruction = (mean - x).square().sum()
    loss = (reconstruction + 0.5 * divergence) / 4
    loss.backward()  # warning: [TLN117]


def through_data():
    """Holds: not norm.requires_grad"""
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    norm = layer.weight.data.norm()
    loss = layer(x).mean() + norm
    loss.backward()  # warning: [TLN117]


def all_terms_learn():
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    out = layer(x)
    loss = out.square().mean() + 0.01 * layer.weight.abs().sum() - 0.1 * out.std()
    loss.backward()
    print(loss.item() + out.detach().sum().item())


def targets_baselines_and_weights():
    layer, value, x = nn.Linear(2, 1), nn.Linear(2, 1), torch.ones(4, 2)
    reward = torch.rand(4, 1)
    advantage = reward - value(x).detach()
    weight = layer(x).abs().mean().item()
    loss = -(layer(x) * advantage).mean() + weight * (value(x) - reward).square().mean()
    loss.backward()
    target = layer(x).detach() + 1
    (layer(x) - target).square().mean().backward()
    (layer(x) - target).mean().backward()


def the_value_is_replaced():
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    surrogate = layer(x).mean()
    loss = surrogate - surrogate.detach() + 3
    loss.backward()
    w = torch.rand((), requires_grad=True)
    (w + (w.round() - w).detach()).backward()


def constants_of_data():
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    margin = torch.tensor(0.5)
    share = (x > 0).float().mean()
    loss = layer(x).mean() + margin.item() + share + margin.detach()
    loss.backward()


def logged_only():
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    loss = layer(x).mean()
    penalty = layer.weight.norm().item()
    loss.backward()
    total = loss.detach() + penalty
    print(total)


def a_sum_of_numbers_beside():
    layer, x = nn.Linear(2, 1), torch.ones(4, 2)
    running = 0.0
    for step in range(3):
        loss = layer(x).mean()
        loss.backward()
        running = running + loss.item()
    print(running)
