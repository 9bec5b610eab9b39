"""Raises: modified by an inplace operation"""

import torch
from core import DOUBLE, SCALES, einsum, sigmoid
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, mask=None):
        similarity = einsum("id,jd->ij", q, k)
        if mask is not None:
            similarity.masked_fill(~mask, 0.0)  # warning: [TLN212]
        return similarity.softmax(-1)


class Gate(nn.Module):
    def forward(self, x):
        gate = sigmoid(x)
        gate.add_(1)  # error: [TLN201]
        return gate


class Doubled(nn.Module):
    def forward(self, x):
        y = DOUBLE(x)
        y.add_(1)  # multiplication saves its inputs
        return y


class Scaled(nn.Module):
    def forward(self, x):
        y = SCALES["double"](x)
        y.add_(1)
        return y


x = torch.ones(3, 3, requires_grad=True)
Attention()(x, x, torch.ones(3, 3, dtype=torch.bool)).sum().backward()
Doubled()(x).sum().backward()
Scaled()(x).sum().backward()
Gate()(x).sum().backward()
