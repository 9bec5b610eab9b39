# ruff: noqa
"""Programs for TLN307."""

import torch
from torch import nn


def normalised_in_forward():
    """Raises: cannot assign 'torch.FloatTensor' as parameter 'prototypes'"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.prototypes = nn.Parameter(torch.randn(3, 4))

        def forward(self, x):
            self.prototypes = nn.functional.normalize(self.prototypes, dim=1)  # error: [TLN307]
            return x @ self.prototypes.t()

    Head()(torch.rand(1, 4))


def clamped_in_a_method():
    """Raises: cannot assign 'torch.FloatTensor' as parameter 'temperature'"""

    class Scaler(nn.Module):
        def __init__(self):
            super().__init__()
            self.temperature = nn.Parameter(torch.ones(1))

        def forward(self, logits):
            return logits / self.temperature

        def limit(self):
            self.temperature = self.temperature.clamp(0.1, 10.0)  # error: [TLN307]

    Scaler().limit()


def initialised_from_outside():
    """Raises: cannot assign 'torch.FloatTensor' as parameter 'bias'"""
    layer = nn.Linear(2, 2)
    layer.bias = torch.zeros(2)  # error: [TLN307]


def detached_update():
    """Raises: cannot assign 'torch.FloatTensor' as parameter 'w'"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))

        def forward(self, x):
            return x * self.w

    net = Net()
    net(torch.ones(2)).sum().backward()
    net.w = net.w.detach() - 0.1 * net.w.grad  # error: [TLN307]


def another_parameter():
    layer = nn.Linear(2, 2)
    layer.weight = nn.Parameter(torch.eye(2))
    layer.bias = None


def written_in_place():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))

        @torch.no_grad()
        def limit(self):
            self.w.clamp_(0, 1)
            self.w.data = self.w.data + 1

    Net().limit()


def another_name():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))

        def forward(self, x):
            w = self.w.exp()
            self.last = w
            return x * w

    Net()(torch.ones(2))


def deleted_first():
    class Reparametrised(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.g = nn.Parameter(torch.ones(1))
            weight = self.layer.weight
            del self.layer.weight
            self.v = nn.Parameter(weight.detach())

        def forward(self, x):
            self.layer.weight = self.g * self.v
            return self.layer(x)

    Reparametrised()(torch.rand(1, 2))


def plain_attribute():
    class Running(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.zeros(2)
            self.scale = nn.Parameter(torch.ones(2))

        def forward(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x.detach()
            return x * self.scale

    Running()(torch.ones(2))


def not_a_module():
    class Regression:
        def __init__(self):
            self.w = nn.Parameter(torch.zeros(2))

        def shrink(self):
            self.w = self.w.detach() * 0.5

    Regression().shrink()


def made_by_a_helper():
    class Layer(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.W = torch.zeros(n)
            self.reset(n)

        def reset(self, n):
            self.W = torch.randn(n)
            self.W = nn.Parameter(self.W)

        def forward(self, x):
            return x * self.W

    Layer(3)(torch.ones(3))


def one_of_two_owners_has_no_such_parameter():
    class Plain:
        weight = 1

    layer = nn.Linear(2, 2)
    owner = layer if eval("False") else Plain()
    owner.weight = torch.eye(2)
    (layer if eval("False") else eval("Plain()")).weight = torch.eye(2)


def either_owner_has_such_a_parameter():
    """Raises: as parameter 'weight'"""
    layer = nn.Linear(2, 2)
    (layer if eval("False") else nn.Linear(2, 2)).weight = torch.eye(2)  # error: [TLN307]


def integers_that_stay_so():
    class Grid(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.count = nn.Parameter(torch.tensor(count).type(torch.long), requires_grad=False)

        def to(self, *args, **kwargs):
            moved = super().to(*args, **kwargs)
            self.count = self.count.to(dtype=torch.long)  # the parameter itself
            self.count = self.count.to(self.count.device, torch.long)
            self.count = self.count.type(torch.long)
            return moved

    Grid(3).to("cpu")


def integers_of_another_size():
    """Raises: cannot assign"""

    class Grid(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = nn.Parameter(torch.zeros(3, dtype=torch.long), requires_grad=False)

        def shorten(self):
            self.count = self.count.to(torch.int32)  # error: [TLN307]

    Grid().shorten()
