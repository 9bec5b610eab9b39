# ruff: noqa
"""Programs for TLN107."""

import torch
import torch.nn.functional as F
from torch import autograd, nn


def wasserstein_critic():
    """Holds: not penalty.requires_grad"""
    critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(critic.parameters())

    def gradient_penalty(real, fake):
        alpha = torch.rand(real.size(0), 1)
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        score = critic(mixed)
        slopes = autograd.grad(  # warning: [TLN107]
            outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score), retain_graph=True  # smell: [TLN102]
        )[0]
        return ((slopes.norm(2, dim=1) - 1) ** 2).mean()

    real, fake = torch.rand(4, 2), torch.rand(4, 2)
    penalty = gradient_penalty(real, fake)
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def smooth_output():
    """Holds: not smooth.requires_grad"""
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.rand(16, 1, requires_grad=True)
    (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=False)  # warning: [TLN107]
    smooth = slope.pow(2).mean()
    loss = F.mse_loss(net(x), torch.sin(x.detach()))
    loss += 0.1 * smooth
    loss.backward()


def penalty_subtracted():
    """Holds: not size.requires_grad"""
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    for x in torch.rand(2, 8, 2):
        x.requires_grad_()
        slope = torch.autograd.grad(net(x).sum(), [x])[0]  # warning: [TLN107]
        size = slope.abs().sum()
        objective = net(x).mean() - 0.01 * size
        (-objective).backward()


def norm_of_the_weights_gradient():
    """Holds: not norm.requires_grad"""
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.rand(8, 2)
    slopes = torch.autograd.grad(net(x).mean(), [net[0].weight])  # warning: [TLN107]
    norm = slopes[0].norm()
    (net(x).pow(2).mean() + norm).backward()


def with_a_graph():
    critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.rand(4, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    (critic(x).mean() + 10 * (slope.norm(dim=1) - 1).pow(2).mean()).backward()


def first_order_meta_learning():
    w = torch.ones(2, requires_grad=True)
    x, y = torch.rand(4, 2), torch.rand(4)
    (g,) = torch.autograd.grad(((x @ w - y) ** 2).mean(), w)
    fast = w - 0.1 * g
    ((x @ fast - y) ** 2).mean().backward()


def adversarial_training():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.rand(4, 2, requires_grad=True)
    (g,) = torch.autograd.grad(net(x).pow(2).mean(), x)
    x_adv = x.detach() + 0.1 * g / g.norm(dim=1, keepdim=True)
    (net(x.detach()).pow(2).mean() + net(x_adv).pow(2).mean()).backward()


def norm_that_is_logged():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.rand(4, 2, requires_grad=True)
    (g,) = torch.autograd.grad(net(x).sum(), x)
    print(g.norm())
    net(x).mean().backward()


def weights_from_a_gradient():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.rand(4, 2, requires_grad=True)
    (g,) = torch.autograd.grad(net(x).sum(), x)
    weight = g.norm(dim=1).softmax(0)
    (weight * net(x).squeeze(1)).sum().backward()
