# Of several outputs, the one asked for is found.
# expected: ok

import torch

w = torch.rand(2, 3, requires_grad=True)
a, b = w.exp().unbind()
(g,) = torch.autograd.grad(b.sum(), b, retain_graph=True)
values, indices = w.exp().sort(1)
(h,) = torch.autograd.grad((values * 2).sum(), values)
