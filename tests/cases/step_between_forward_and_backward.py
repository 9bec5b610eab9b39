# ruff: noqa
"""Programs for TLN202."""

import torch
import torch.nn.functional as F
from torch import nn


def generator_scored_before_the_critic_learns():
    """Raises: modified by an inplace operation"""
    generator = nn.Linear(2, 2)
    critic = nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
    opt_g = torch.optim.Adam(generator.parameters())
    opt_d = torch.optim.Adam(critic.parameters())
    fake = generator(torch.rand(3, 2))
    g_loss = -critic(fake).mean()
    d_loss = critic(fake.detach()).mean() - critic(torch.rand(3, 2)).mean()
    d_loss.backward()
    opt_d.step()  # error: [TLN202]
    g_loss.backward()
    opt_g.step()


def actor_and_critic():
    """Raises: modified by an inplace operation"""
    actor = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    critic = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    state, reward = torch.rand(8, 3), torch.rand(8, 1)
    action = actor(state)
    actor_loss = -critic(torch.cat([state, action], dim=1)).mean()
    value = critic(torch.cat([state, action.detach()], dim=1))
    critic_loss = F.mse_loss(value, reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()  # error: [TLN202]
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()


def step_per_task():
    """Raises: modified by an inplace operation"""
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = [net(torch.rand(3, 2)).pow(2).mean(), net(torch.rand(3, 2)).abs().mean()]
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # error: [TLN202]


def one_layer_learns_from_old_weights():
    """Holds: torch.allclose(first, second)"""
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    x = torch.rand(4, 2)
    a, b = layer(x).pow(2).sum(), layer(x).pow(2).sum()
    a.backward()
    first = layer.weight.grad.clone()
    optimizer.step()  # warning: [TLN202]
    optimizer.zero_grad()
    b.backward()
    second = layer.weight.grad.clone()


def weights_clipped_too_late():
    """Holds: w.grad == 6 and w == 1"""
    w = torch.tensor(3.0, requires_grad=True)
    loss = (w + 3.0).sum() * 6
    with torch.no_grad():
        w.clamp_(-1, 1)  # warning: [TLN202]
    loss.backward()


def step_after_every_backward():
    generator = nn.Linear(2, 2)
    critic = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    opt_g = torch.optim.Adam(generator.parameters())
    opt_d = torch.optim.Adam(critic.parameters())
    for real in torch.rand(3, 4, 2):
        fake = generator(torch.rand(4, 2))
        opt_d.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        opt_d.step()
        opt_g.zero_grad()
        (-critic(fake).mean()).backward()
        opt_g.step()


def both_backwards_first():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    a, b = net(torch.rand(3, 2)).pow(2).mean(), net(torch.rand(3, 2)).abs().mean()
    optimizer.zero_grad()
    a.backward()
    b.backward()
    optimizer.step()


def step_of_the_other_network():
    encoder, decoder = nn.Linear(2, 2), nn.Linear(2, 2)
    optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)
    code = encoder(torch.rand(3, 2))
    loss = code.pow(2).mean()
    optimizer.zero_grad()
    decoder(code.detach()).mean().backward()
    optimizer.step()
    loss.backward()


def target_network_follows():
    net, target = nn.Linear(2, 1), nn.Linear(2, 1)
    for p in target.parameters():
        p.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.rand(3, 4, 2):
        loss = F.mse_loss(net(x), target(x))
        with torch.no_grad():
            for p, t in zip(net.parameters(), target.parameters()):
                t.mul_(0.9).add_(p, alpha=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def values_computed_for_printing():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = net(torch.rand(3, 2)).mean()
    loss = net(torch.rand(3, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(before.item(), loss.item())


def weights_that_autocast_copies():
    """Holds: net.weight.grad.abs().sum() > 0"""
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    context = eval("torch.autocast('cpu', torch.bfloat16)")
    with context:
        hidden = net(torch.ones(1, 3, requires_grad=True))
    loss = hidden.float().sum()
    nn.init.zeros_(net.weight)  # warning: [TLN202]
    loss.backward()
    opt.step()
