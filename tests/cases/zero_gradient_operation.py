# ruff: noqa
"""Programs for TLN116."""

import torch
from torch import nn
from torch.autograd import Function


def quantized_weights():
    """Holds: (scale.grad == 0).all()"""
    scale = torch.ones(3, requires_grad=True)
    codes = (scale * 7).round()
    loss = (codes / 7 - 0.5).square().mean()
    loss.backward()  # warning: [TLN116]


def binary_activations():
    """Holds: all((p.grad == 0).all() for p in encoder.parameters())"""
    encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
    optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
    x = torch.rand(3, 4)
    code = torch.sign(encoder(x))
    loss = (decoder(code) - x).square().mean()
    loss.backward()  # warning: [TLN116]
    optimizer.step()


def drawn():
    """Holds: (logits.grad == 0).all()"""
    logits = torch.zeros(5, requires_grad=True)
    drawn = torch.bernoulli(torch.sigmoid(logits))
    reward = (drawn * torch.arange(5.0)).sum()
    reward.backward()  # warning: [TLN116]


def floor_in_place():
    """Holds: (p.grad == 0).all()"""
    p = torch.rand(3, requires_grad=True)
    (p * 10).floor_().sum().backward()  # warning: [TLN116]


def both_ways_are_flat():
    """Holds: (p.grad == 0).all()"""
    p = torch.rand(3, requires_grad=True)
    (p.ceil() + torch.trunc(p * 2)).sum().backward()  # warning: [TLN116]


def straight_through():
    w = torch.rand(3, requires_grad=True)
    (w + (w.round() - w).detach()).sum().backward()
    x = torch.rand(3, requires_grad=True)
    (x - (x - x.sign()).detach()).sum().backward()


def a_function_of_its_own():
    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad):
            return grad

    w = torch.rand(3, requires_grad=True)
    Round.apply(w).sum().backward()


def another_way():
    w = torch.rand(3, requires_grad=True)
    (w - w.floor()).sum().backward()
    v = torch.rand(3, requires_grad=True)
    (v.sign() * v).sum().backward()


def log_probability_of_the_draw():
    logits = torch.zeros(5, requires_grad=True)
    p = torch.sigmoid(logits)
    drawn = torch.bernoulli(p)
    (drawn * logits - nn.functional.softplus(logits)).sum().backward()


def another_loss():
    w = torch.rand(3, requires_grad=True)
    w.square().sum().backward()
    (w.round() - w.detach()).sum().backward()


def of_data():
    layer = nn.Linear(3, 1)
    x = torch.rand(4, 3).round()
    target = torch.sign(torch.randn(4, 1))
    (layer(x) - target).square().mean().backward()


def only_on_one_path(hard=True):
    import random

    w = torch.rand(3, requires_grad=True)
    y = w * 2
    if random.random() < 0.5:
        y = y.round()
    y.sum().backward()


def for_a_metric():
    w = torch.rand(3, requires_grad=True)
    y = torch.sigmoid(w)
    correct = y.round().sum()
    y.sum().backward()
    print(correct.item())


def rounding_keeps_the_graph():
    """Holds: (x.grad == 0).all()"""
    x = torch.rand(3, requires_grad=True)
    x.round().sum().backward()  # warning: [TLN116]
