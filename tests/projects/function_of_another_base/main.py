"""The base of another file hands over one input more, which gets no gradient."""

import torch
from encoded import EncodedFunction


class Doubled(EncodedFunction):
    @staticmethod
    def forward(ctx, dtype, x):
        return (2 * x).to(dtype)

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


Doubled.apply(torch.ones(2, requires_grad=True)).sum().backward()
