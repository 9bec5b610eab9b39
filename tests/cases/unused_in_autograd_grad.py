# ruff: noqa
"""Programs for TLN113."""

import torch
from torch import nn


def column_of_the_points():
    """Raises: appears to not have been used in the graph"""
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def residual(points):
        x, t = points[:, 0:1], points[:, 1:2]
        u = net(points)
        u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]  # error: [TLN113]
        return u_t

    residual(torch.rand(5, 2, requires_grad=True))


def frozen_weight():
    """Raises: One of the differentiated Tensors does not require grad"""
    net = nn.Linear(2, 1)
    net.bias.requires_grad = False
    loss = net(torch.rand(3, 2)).mean()
    slopes = torch.autograd.grad(loss, (net.weight, net.bias))  # error: [TLN113]


def interpolates_detached():
    """Raises: One of the differentiated Tensors does not require grad"""
    critic = nn.Linear(2, 1)
    real, fake = torch.rand(4, 2), torch.rand(4, 2)
    mixed = 0.5 * real + 0.5 * fake
    score = critic(mixed)
    slope = torch.autograd.grad(score.sum(), mixed, create_graph=True)  # error: [TLN113]


def other_head():
    """Raises: appears to not have been used in the graph"""
    body, policy, value = nn.Linear(2, 4), nn.Linear(4, 2), nn.Linear(4, 1)
    h = torch.relu(body(torch.rand(3, 2)))
    loss = policy(h).mean()
    slopes = torch.autograd.grad(loss, [body.weight, value.weight])  # error: [TLN113]


def copy_of_the_input():
    """Raises: appears to not have been used in the graph"""
    x = torch.rand(3, requires_grad=True)
    y = (x.clone() ** 2).sum()
    z = x.clone()
    slope = torch.autograd.grad(y, z)  # error: [TLN113]


def unused_allowed():
    body, value = nn.Linear(2, 4), nn.Linear(4, 1)
    loss = body(torch.rand(3, 2)).mean()
    slopes = torch.autograd.grad(loss, [body.weight, value.weight], allow_unused=True)
    zeros = torch.autograd.grad(
        body(torch.rand(3, 2)).mean(), [body.weight, value.weight], materialize_grads=True
    )


def joined_from_columns():
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.rand(5, 1, requires_grad=True)
    t = torch.rand(5, 1, requires_grad=True)
    u = net(torch.cat([x, t], dim=1))
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    u_xx = torch.autograd.grad(u_x.sum(), x)[0]


def intermediate_value():
    net = nn.Linear(2, 2)
    h = net(torch.rand(3, 2))
    slope = torch.autograd.grad(h.pow(2).sum(), h)


def slice_that_is_used():
    points = torch.rand(5, 2, requires_grad=True)
    t = points[:, :1]
    u = (t * 2).sin().sum()
    slope = torch.autograd.grad(u, t)


def several_outputs():
    a = torch.rand(3, requires_grad=True)
    b = torch.rand(3, requires_grad=True)
    slopes = torch.autograd.grad((a.sum(), (b * b).sum()), (a, b))


def unknown_computation():
    import math

    x = torch.rand(3, requires_grad=True)
    y = eval("(x * 2).sum()")
    slope = torch.autograd.grad(y, x)


def unknown_network_against_a_tensor():
    def slope_of(network, count):
        time = torch.linspace(0.0, 1.0, count, requires_grad=True)
        wrong = network(time) - torch.ones(count)
        return torch.autograd.grad((wrong**2).mean(), time)[0]

    slope_of(nn.Sequential(nn.Unflatten(0, (-1, 1)), nn.Linear(1, 1), nn.Flatten(0)), 5)


def unknown_exponent_bound_and_weight():
    def slopes(of, count):
        a = torch.tensor(0.5, requires_grad=True)
        data = torch.linspace(1.0, 2.0, count)
        outputs = [
            data ** of(a),
            data.clamp(max=of(a)),
            torch.lerp(data, data + 1, of(a)),
            data.masked_fill(data > 1.5, of(a)),
            torch.xlogy(data, of(a)),
            torch.where(data > 1.5, data, of(a)),
            data // 1 - of(a),
            torch.addcmul(data, data, of(a)),
        ]
        return [torch.autograd.grad(each.sum(), a) for each in outputs]

    slopes(torch.neg, 4)


def number_for_a_factor():
    """Raises: appears to not have been used in the graph"""
    a = torch.tensor(0.5, requires_grad=True)
    b = torch.tensor(2.0, requires_grad=True)
    curve = torch.linspace(1.0, 2.0, 4) * 3.5 * b
    slope = torch.autograd.grad(curve.sum(), a)  # error: [TLN113]
