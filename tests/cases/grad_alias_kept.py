# ruff: noqa
"""Programs for TLN210."""

import torch
from torch import nn


def first_gradient():
    """Holds: (first == x.grad).all()"""
    x = torch.ones(3, requires_grad=True)
    (x**2).sum().backward()
    first = x.grad  # warning: [TLN210]
    (x**3).sum().backward()
    print(first)


def gradients_per_task():
    """Holds: torch.equal(grads[0], grads[1])"""
    shared = nn.Linear(2, 2)
    heads = [nn.Linear(2, 1), nn.Linear(2, 1)]
    h = torch.rand(3, 2)
    grads = []
    heads[0](shared(h)).sum().backward()
    grads.append(shared.weight.grad)  # warning: [TLN210]
    heads[1](shared(h)).sum().backward()
    grads.append(shared.weight.grad)  # warning: [TLN112]
    cosine = (grads[0] * grads[1]).sum()


def zeroed_by_hand():
    """Holds: (old == 0).all()"""
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    old = w.grad  # warning: [TLN210]
    w.grad.zero_()  # smell: [TLN401]
    print(old.norm())


def zeroed_but_not_none():
    """Holds: all((g == 0).all() for g in before)"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.rand(3, 2)).sum().backward()
    before = [p.grad for p in net.parameters()]  # warning: [TLN210]
    optimizer.zero_grad(set_to_none=False)
    change = sum(g.abs().sum() for g in before)


def pair_of_gradients():
    """Holds: (pair[0] == 5).all()"""
    x = torch.ones(3, requires_grad=True)
    b = torch.zeros(3, requires_grad=True)
    (2 * x + b).sum().backward()
    pair = (x.grad, b.grad.clone())  # warning: [TLN210]
    (3 * x).sum().backward()
    print(pair)


def cloned():
    x = torch.ones(3, requires_grad=True)
    (x**2).sum().backward()
    first = x.grad.clone()
    (x**3).sum().backward()
    print(first, x.grad - first)


def set_to_none():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = None
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        if before is not None:
            print((before - net.weight.grad).norm())
        before = net.weight.grad
        optimizer.step()


def scaled_through_the_name():
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    g = w.grad
    g.mul_(0.5)
    print(g)


def read_before_the_next_backward():
    w = torch.ones(3, requires_grad=True)
    for _ in range(3):
        (w * w).sum().backward()
        g = w.grad
        norm = g.norm()
        w.grad = None


def optimizer_written_by_hand():
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    with torch.no_grad():
        for p in [w]:
            d_p = p.grad
            p.add_(d_p, alpha=-0.1)


def gradients_of_autograd():
    x = torch.ones(3, requires_grad=True)
    (first,) = torch.autograd.grad((x**2).sum(), x)
    (x**3).sum().backward()
    print(first)


def buffers_refreshed_on_purpose():
    buffers = []
    for step in range(3):
        x = torch.rand(2, requires_grad=True)
        (x * x).sum().backward()
        if step == 0:
            buffers.append(x.grad)
        else:
            buffers[0].copy_(x.grad)
        print(buffers[0])
