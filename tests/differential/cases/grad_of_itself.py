# `autograd.grad(y, y)` runs nothing.
# expected: ok

import torch

w = torch.rand(3, requires_grad=True)
y = w.exp().sum()
one = torch.autograd.grad(y, y)[0]
y.backward()
