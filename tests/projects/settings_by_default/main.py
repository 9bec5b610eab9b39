"""Raises: modified by an inplace operation"""

import torch
from settings import NetSettings, TaskSettings
from torch import nn

ACTS = {"sigmoid": nn.Sigmoid, "leaky": nn.LeakyReLU}


class Net(nn.Module):
    def __init__(self, settings: NetSettings):
        super().__init__()
        self.linear = nn.Linear(settings.features, settings.features)
        self.act = ACTS[settings.act]()

    def forward(self, x):
        y = self.act(self.linear(x))
        y += 1  # error: [TLN201]
        return y


class Attention(nn.Module):
    def __init__(self, settings: NetSettings):
        super().__init__()
        self.linear, self.rate = nn.Linear(settings.features, settings.features), settings.rate

    def forward(self, x):
        weights = torch.softmax(self.linear(x).float(), dim=-1).to(self.linear.weight.dtype)
        dropped = nn.functional.dropout(weights, p=self.rate, training=self.training)
        dropped.clamp_(min=0.1)  # error: [TLN201]
        return dropped


class Task(nn.Module):
    def __init__(self, settings: TaskSettings):
        super().__init__()
        self.linear, self.act = nn.Linear(3, 3), ACTS[settings.act]()

    def forward(self, x):
        y = self.act(self.linear(x))
        y += 1
        return y


x = torch.rand(2, 3)
Task(TaskSettings("leaky"))(x).sum().backward()
Net(NetSettings(act="leaky"))(x).sum().backward()
try:
    Attention(NetSettings())(x).sum().backward()
except RuntimeError as error:
    print(error)
else:
    raise AssertionError
Attention(NetSettings(rate=0.5))(x).sum().backward()
Net(NetSettings())(x).sum().backward()
