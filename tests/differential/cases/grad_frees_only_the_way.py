# `autograd.grad` runs and frees only what leads to its inputs.
# expected: ok

import torch

w = torch.rand(3, requires_grad=True)
h = w.exp()
loss = h.sin().sum()
g = torch.autograd.grad(loss, h)[0]
h.sum().backward()
