# `F.silu(x, inplace=True)` saves a copy of its input.
# expected: ok

import torch
from torch import nn

w = torch.rand(3, requires_grad=True)
y = w * 1
nn.functional.silu(y, inplace=True)
y.add_(1)
y.sum().backward()
