# `F.relu(x, inplace=True)` saves its result.
# expected: saved on line 11, written on line 10

import torch
from torch import nn

w = torch.rand(3, requires_grad=True)
y = w * 1
nn.functional.relu(y, inplace=True)
y.add_(1)
y.sum().backward()
