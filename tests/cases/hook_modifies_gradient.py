# ruff: noqa
"""Programs for TLN511."""

import torch
from torch import nn


def clipping_in_a_loop_over_parameters():
    """Holds: (x.grad.abs() <= 0.5).all()"""
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y.register_hook(lambda grad: grad.clamp_(-0.5, 0.5))  # warning: [TLN511]
    (y * 3).sum().backward()


def reversal():
    """Holds: seed[0] == -1"""

    def reverse(grad):
        return grad.neg_()  # warning: [TLN511]

    features = torch.ones(2, requires_grad=True) * 1
    features.register_hook(reverse)
    seed = torch.ones(2)
    features.backward(seed)


def mask_of_a_pruned_weight():
    """Holds: seed[0] == 0"""

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))
            self.register_buffer("mask", torch.tensor([0.0, 1.0]))
            self.weight.register_hook(self.masked)

        def masked(self, grad):
            grad *= self.mask  # warning: [TLN511]
            return grad

    module = Masked()
    seed = torch.ones(2)
    module.weight.backward(seed)


def nan_to_zero():
    """Holds: seed[0] == 0"""

    def clean(g):
        g[torch.isnan(g)] = 0  # warning: [TLN511]

    y = torch.ones(2, requires_grad=True) * 1
    y.register_hook(clean)
    seed = torch.tensor([float("nan"), 1.0])
    y.backward(seed)


def new_gradients():
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: g.clone().clamp_(-1, 1))
    y.register_hook(lambda g: torch.nan_to_num(g))
    y.sum().backward()


def recorded():
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    grads = []
    y.register_hook(grads.append)

    def keep(grad):
        total = torch.zeros(2)
        total += grad
        grads.append(total)

    y.register_hook(keep)
    y.sum().backward()


def copied_first():
    def scale(grad):
        grad = grad.detach().clone()
        grad.mul_(2)
        return grad

    x = torch.ones(2, requires_grad=True)
    x.register_hook(scale)
    (x * 1).sum().backward()


def accumulated_gradient_hook():
    p = torch.ones(2, requires_grad=True)

    def step(param):
        with torch.no_grad():
            param.add_(param.grad, alpha=-0.1)
        param.grad = None

    p.register_post_accumulate_grad_hook(step)
    (p * 2).sum().backward()
