"""Raises: modified by an inplace operation"""

import torch
from kinds import CHANGING, MAKERS, ROOTS, build, change
from torch import nn


class Made(nn.Module):
    def __init__(self, features, act="sigmoid"):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), MAKERS[act]

    def forward(self, x):
        y = self.act(self.linear(x))
        y += 1  # error: [TLN201]
        return y


class Leaky(nn.Module):
    def __init__(self, features, act="leaky"):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), MAKERS[act]

    def forward(self, x):
        y = self.act(self.linear(x))
        y += 1  # the input is saved
        return y


class Built(nn.Module):
    def __init__(self, features, act="Re-LU"):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), build(act)

    def forward(self, x):
        y = self.act(self.linear(x))
        y *= 2  # error: [TLN201]
        return y


class Found(nn.Module):
    def __init__(self, features, kind=nn.Tanh):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), build(kind)

    def forward(self, x):
        y = self.act(self.linear(x))
        y *= 2  # error: [TLN201]
        return y


class Plain(nn.Module):
    def __init__(self, features, kind=nn.Softplus):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), build(kind)

    def forward(self, x):
        y = self.act(self.linear(x))
        y *= 2  # the input is saved
        return y


class Rooted(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), ROOTS["tanh"]()

    def forward(self, x):
        y = self.act(self.linear(x))
        y *= 2  # error: [TLN201]
        return y


class Given(nn.Module):
    def __init__(self, features, act):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), MAKERS[act]

    def forward(self, x):
        y = self.act(self.linear(x))
        y += 1  # nobody knows what saves what
        return y


class Changed(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear, self.act = nn.Linear(features, features), CHANGING["act"]()

    def forward(self, x):
        y = self.act(self.linear(x))
        y += 1  # it is no sigmoid any more
        return y


change(nn.LeakyReLU)
x = torch.rand(2, 3)
for harmless in (Leaky(3), Given(3, "leaky"), Changed(3), Plain(3)):
    harmless(x).sum().backward()
for broken in (Made(3), Built(3), Found(3), Rooted(3)):
    try:
        broken(x).sum().backward()
    except RuntimeError as error:
        print(error)
    else:
        raise AssertionError(type(broken).__name__)
broken(x).sum().backward()
