# After a write into the base, a view has a new `grad_fn`; the root knows the old one.
# expected: unused on line 11

import torch

w = torch.rand(3, requires_grad=True)
y = w * 2
v = y[0]
loss = v.exp()
y.add_(1)
g = torch.autograd.grad(loss, v)
