"""A plain tensor of a layer in another file, which the model moves itself."""

import torch
from head import Head, Shift
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head(3)
        self.shift = Shift(3)

    def _apply(self, fn):
        super()._apply(fn)
        head = self.head
        head.stride = fn(head.stride)
        return self

    def forward(self, x):
        return self.shift(self.head(x))


model = Model().double()
assert model.head.stride.dtype == torch.float64
assert model.shift.offset.dtype == torch.float32
model.head(torch.ones(1, 2).double()).sum().backward()
