# The graph of a gradient saves what its formula uses: of `x ** 2` that is `x`.
# expected: saved on line 11, written on line 10

import torch

w = torch.rand(3, requires_grad=True)
x = w.clone()
(g,) = torch.autograd.grad(x.pow(2).sum(), x, create_graph=True)
with torch.no_grad():
    x.mul_(2)
g.backward(torch.ones(3))
