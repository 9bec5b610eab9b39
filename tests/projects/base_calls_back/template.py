import torch
from torch import nn


class Residual(nn.Module):
    def branch(self, x):
        raise NotImplementedError

    def forward(self, x):
        return x * 2 + self.branch(x)


class Own(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        y.add_(1)  # warning: [TLN201]
        return y
