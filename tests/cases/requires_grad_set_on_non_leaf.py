# ruff: noqa
"""Programs for TLN114."""

import torch
from torch import nn


def features_frozen():
    """Raises: you can only change requires_grad flags of leaf variables"""
    backbone, head = nn.Linear(4, 3), nn.Linear(3, 1)
    features = backbone(torch.rand(2, 4))
    features.requires_grad = False  # error: [TLN114]
    head(features).sum().backward()


def scaled_noise():
    """Raises: you can only change requires_grad flags of leaf variables"""
    delta = torch.zeros(3, requires_grad=True)
    delta = delta + 0.1 * torch.rand(3)
    delta.requires_grad = True  # error: [TLN114]
    delta.sum().backward()


def switched_off_by_method():
    """Raises: you can only change requires_grad flags of leaf variables"""
    generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
    fake = generator(torch.rand(3, 2))
    critic(fake.requires_grad_(False)).mean().backward()  # error: [TLN114]


def hidden_state_of_a_cell():
    """Raises: you can only change requires_grad flags of leaf variables"""
    cell = nn.Linear(2, 2)
    h = torch.zeros(1, 2)
    for x in torch.rand(3, 1, 2):
        h.requires_grad = False  # error: [TLN114]
        h = torch.tanh(cell(h) + x)


def view_of_a_parameter():
    """Raises: you can only change requires_grad flags of leaf variables"""
    table = nn.Embedding(5, 2)
    padding = table.weight[0]
    padding.requires_grad = False  # error: [TLN114]


def frozen_layer():
    net = nn.Linear(4, 3)
    for p in net.parameters():
        p.requires_grad = False
    net.weight.requires_grad_(True)


def image_to_optimise():
    image = torch.rand(1, 4).mul(0.5)
    image.requires_grad = True
    nn.Linear(4, 1)(image).sum().backward()


def switched_on_where_it_is_on():
    w = torch.ones(3, requires_grad=True)
    h = (w * 2).requires_grad_()
    h.sum().backward()


def detached_first():
    net = nn.Linear(4, 3)
    x = net(torch.rand(1, 4)).detach()
    x.requires_grad = True
    x.sum().backward()


def made_without_recording():
    net = nn.Linear(4, 3)
    with torch.no_grad():
        x = net(torch.rand(1, 4))
    x.requires_grad = True
    x.sum().backward()


def attribute_of_another_class():
    class Config:
        requires_grad = False

    config = Config()
    config.requires_grad = True


def leaf_or_result():
    import sys

    x = torch.rand(3, requires_grad=True)
    y = x if len(sys.argv) < 100 else x * 2
    y.requires_grad = False


def members_of_what_was_differentiated():
    """The first argument of `autograd.grad` may be a list: its members are no views of it."""

    def slopes(losses, x):
        (slope,) = torch.autograd.grad(losses, x)
        for loss in losses:
            loss.requires_grad = True
        return slope

    x = torch.ones((), requires_grad=True)
    slopes([x], x)


def frozen_by_text_in_a_decorated_function():
    wrap = eval("lambda function: function")
    w = torch.eye(4, requires_grad=True)

    @wrap
    def prepared(t):
        exec("t.requires_grad_(False)")
        return t

    prepared(w)
    doubled = w * 2
    doubled.requires_grad = False
