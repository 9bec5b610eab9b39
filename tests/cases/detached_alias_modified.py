# ruff: noqa
"""Programs for TLN206."""

import torch
from torch import nn


def weights_before_and_after():
    """Holds: moved == 0"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    before = net.weight.detach()
    net(torch.rand(4, 2)).sum().backward()
    optimizer.step()  # warning: [TLN206]
    moved = (net.weight - before).abs().sum().item()


def snapshot_of_a_buffer():
    """Holds: snapshot.sum() == 6"""
    noise = torch.zeros(3, requires_grad=True)
    snapshot = noise.detach()
    with torch.no_grad():
        noise.add_(2.0)  # warning: [TLN206]
    print(snapshot)


def image_shown_as_an_array():
    """Holds: picture.max() == 0"""
    image = torch.rand(2, 2, requires_grad=True)
    out = image * 2
    picture = out.detach().numpy()
    out.zero_()  # warning: [TLN206]
    print(picture)


def perturbed_copy():
    """Holds: clean.item() > 99"""
    h = nn.Linear(2, 2)(torch.rand(1, 2))
    noisy = h.detach()
    noisy += 100  # warning: [TLN206]
    clean = h.max()


def data_kept():
    """Holds: old.item() == 0"""
    w = torch.ones((), requires_grad=True)
    old = w.data
    with torch.no_grad():
        w.zero_()  # warning: [TLN206]
    ratio = w / (old + 1)


def cloned():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    before = net.weight.detach().clone()
    net(torch.rand(4, 2)).sum().backward()
    optimizer.step()
    moved = (net.weight - before).abs().sum().item()


def read_before_the_write():
    w = torch.ones(3, requires_grad=True)
    shown = w.detach()
    print(shown)
    with torch.no_grad():
        w.mul_(2)


def source_not_used_again():
    h = nn.Linear(2, 2)(torch.rand(1, 2))
    h = h.detach()
    h += 1
    print(h)


def hand_written_update():
    """A leaf is written through its alias on purpose."""
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    raw = w.data
    raw -= 0.1 * w.grad
    print(w)


def target_of_a_loss():
    out = nn.Linear(2, 2)(torch.rand(3, 2))
    target = out.detach()
    (out - target - 1).pow(2).mean().backward()


def array_copied():
    w = torch.ones(3, requires_grad=True)
    picture = w.detach().numpy().copy()
    with torch.no_grad():
        w.zero_()
    print(picture)
