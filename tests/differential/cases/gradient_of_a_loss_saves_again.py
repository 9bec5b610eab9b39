# The gradient of `mse_loss` is a function of both operands, and saves them.
# expected: saved on line 11, written on line 10

import torch

w = torch.rand(3, requires_grad=True)
a, b = w * 1, w * 2
(g,) = torch.autograd.grad(torch.nn.functional.mse_loss(a, b), a, create_graph=True)
with torch.no_grad():
    b.add_(1)
g.sum().backward()
