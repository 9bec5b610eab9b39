# ruff: noqa
"""Programs for TLN112."""

import torch
from torch import nn


def graph_rebuilt():
    """Holds: x.grad == 24 and first == 12"""
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    y.backward()
    first = x.grad.item()
    y = x**3
    y.backward()
    print(x.grad)  # warning: [TLN112]


def slopes_at_several_places():
    """Holds: slopes[2] == 6"""
    x = torch.tensor(1.0, requires_grad=True)
    slopes = []
    for power in range(3):
        y = x * 2
        y.backward()
        slopes.append(x.grad.item())  # warning: [TLN112]


def descent_by_hand():
    """Holds: w.grad.abs().sum() > 0"""
    w = torch.zeros(2, requires_grad=True)
    for _ in range(20):
        loss = (w - 1).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w.sub_(0.1 * w.grad)  # warning: [TLN112]


def two_losses_compared():
    """Holds: ratio < 1"""
    net = nn.Linear(2, 1)
    x = torch.rand(8, 2)
    net(x).pow(2).mean().backward()
    small = net.weight.grad.norm().item()
    net(x).pow(2).sum().backward()
    large = net.weight.grad.norm().item()  # warning: [TLN112]
    ratio = 8 * small / large


def retained_graph():
    """Holds: not torch.allclose(x.grad, 4 * expected)"""
    x = torch.rand(4, requires_grad=True)
    c = 2.0 * x**2
    b, a = c.mean(), c.sum()
    b.backward(retain_graph=True)  # smell: [TLN102]
    expected = 4.0 * x.detach() / 4
    print(torch.allclose(x.grad, expected))
    a.backward()
    print(torch.allclose(x.grad, 4 * expected))  # warning: [TLN112]


def first_subtracted():
    x = torch.rand(4, requires_grad=True)
    (x**2).sum().backward()
    first = x.grad.clone()
    (x**3).sum().backward()
    second = x.grad - first


def reset_in_between():
    x = torch.rand(4, requires_grad=True)
    (x**2).sum().backward()
    print(x.grad)
    x.grad = None
    (x**3).sum().backward()
    print(x.grad)


def zeroed_by_the_optimizer():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        print(net.weight.grad.norm())
        optimizer.step()


def read_once_at_the_end():
    w = torch.ones(2, requires_grad=True)
    for x in torch.rand(3, 2):
        (w * x).sum().backward()
    average = w.grad / 3


def accumulation_logged():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.zero_grad()
    for x in torch.rand(3, 4, 2):
        (net(x).pow(2).mean() / 3).backward()
        print(net.weight.grad.norm())
    optimizer.step()


def only_asked_whether_it_is_there():
    w = torch.ones(2, requires_grad=True)
    for x in torch.rand(3, 2):
        (w * x).sum().backward()
        if w.grad is not None:
            print("a gradient")


def guarded_reset():
    w = torch.ones(2, requires_grad=True)
    for x in torch.rand(3, 2):
        if w.grad is not None:
            w.grad.zero_()  # smell: [TLN401]
        (w * x).sum().backward()
        print(w.grad)


def sum_is_expected():
    x = torch.rand(4, requires_grad=True)
    (x**2).sum().backward()
    once = x.grad.clone()
    (x**2).sum().backward()
    assert torch.allclose(x.grad, 2 * once)


def gradients_returned():
    x = torch.rand(4, requires_grad=True)
    first = torch.autograd.grad((x**2).sum(), x)[0]
    second = torch.autograd.grad((x**3).sum(), x)[0]
    print(first, second)


def set_to_zero_by_index():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad.clone()
    x.grad[:] = 0  # smell: [TLN401]
    (x * 3).sum().backward()
    second = x.grad.clone()
    print(first, second)


def deleted():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad.clone()
    del x.grad
    (x * 3).sum().backward()
    second = x.grad.clone()
    print(first, second)


def set_by_name():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad.clone()
    setattr(x, "grad", None)
    (x * 3).sum().backward()
    second = x.grad.clone()
    print(first, second)


def zeroed_by_an_initialiser():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad.clone()
    torch.nn.init.zeros_(x.grad)
    (x * 3).sum().backward()
    second = x.grad.clone()
    print(first, second)


def zeroed_after_two_backwards():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    print(x.grad)
    (x * 3).sum().backward()
    x.grad.zero_()  # smell: [TLN401]
    print(x.grad)
