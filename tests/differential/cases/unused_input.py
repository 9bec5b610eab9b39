# An input of `autograd.grad` that the root does not depend on.
# expected: unused on line 9

import torch

w = torch.rand(3, requires_grad=True)
v = w[None]
loss = w.sum()
g = torch.autograd.grad(loss, v)
