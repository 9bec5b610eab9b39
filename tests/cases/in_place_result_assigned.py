# ruff: noqa
"""Programs for TLN211."""

import torch
from torch import nn


def before_and_after():
    """Holds: change == 0"""
    x = torch.rand(3)
    clipped = x.clamp_(0, 0.5)  # smell: [TLN211]
    change = (clipped - x).abs().sum()


def normalised_copy():
    """Holds: (data == 0).all()"""
    data = torch.ones(4)
    centred = data.sub_(data.mean())  # smell: [TLN211]
    print(centred.norm(), data.norm())


def two_powers():
    """Holds: (x == 4).all()"""
    x = torch.full((3,), 2.0)
    squared = x.pow_(2)  # smell: [TLN211]
    cubed = x * squared


def mask_applied():
    """Holds: scores.max() < 0"""
    scores = torch.ones(3)
    masked = scores.masked_fill_(scores > 0, -1.0)  # smell: [TLN211]
    best = scores.max() - masked.max()


def inside_a_module():
    """Holds: out.abs().sum() == 0"""

    class Residual(nn.Module):
        def forward(self, x):
            h = x * 2
            y = h.mul_(3)  # smell: [TLN211]
            return y - h

    out = Residual()(torch.rand(2))


def out_of_place():
    x = torch.rand(3)
    clipped = x.clamp(0, 0.5)
    change = (clipped - x).abs().sum()


def same_name():
    x = torch.rand(3)
    x = x.clamp_(0, 0.5)
    print(x)


def fresh_buffer():
    noise = torch.empty(3).normal_()
    weights = torch.zeros(3).fill_(0.5)
    print(noise * weights)


def old_name_not_used_again():
    x = torch.rand(3)
    y = x.mul_(2)
    x = y + 1
    print(x, y)


def flags_and_histories():
    w = torch.ones(3)
    p = w.requires_grad_()
    print(p.sum(), w.sum())


def returned_by_a_function():
    def scaled(x):
        return x.mul_(2)

    print(scaled(torch.ones(3)))


def scratch_memory_of_the_caller():
    """The old name is read in another function only, which means by it whatever is in its scratch memory."""

    class Decoder:
        def update(self, message, out):
            magnitude = message.abs_()
            least = magnitude.min(dim=1, keepdim=True).values
            out.copy_(magnitude - least)
            return out

        def run(self, start):
            message, out = start.clone(), torch.empty_like(start)
            for _ in range(3):
                message.copy_(start)
                self.update(message, out)
            return out

    Decoder().run(torch.randn(2, 3))


def what_an_object_holds_before_and_after():
    """Holds: shift == 0"""

    class System:
        def __init__(self):
            self.position = torch.ones(3, 2)

        def step(self, velocity):
            moved = self.position.add_(velocity)  # smell: [TLN211]
            shift = (moved - self.position).norm(dim=1).max()
            self.position = moved
            return shift

    shift = System().step(torch.rand(3, 2))


def what_an_object_holds_goes_on():
    class System:
        def __init__(self):
            self.position = torch.ones(3, 2)
            self.trail = []

        def step(self, velocity):
            moved = self.position.add_(velocity)
            self.trail.append(moved.clone())
            return self.position.norm()

        def replaced(self, velocity):
            moved = self.position.add_(velocity)
            self.position = torch.zeros(3, 2)
            return moved - self.position

    System().step(torch.rand(3, 2))
    System().replaced(torch.rand(3, 2))
