"""A custom Function under the name of its `apply`, and a layer that calls it."""

import torch
from torch import nn


class SparseFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim=-1):
        ctx.dim = dim
        y = torch.clamp(x - x.mean(dim=dim, keepdim=True), min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return torch.where(y != 0, grad, torch.zeros_like(grad)), None


sparse = SparseFunction.apply


class Sparse(nn.Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return sparse(x, self.dim)


class Attention(nn.Module):
    def __init__(self, name=None):
        super().__init__()
        self.attention = nn.Identity() if name is None else nn.Tanh()

    def forward(self, x):
        return self.attention(x)
