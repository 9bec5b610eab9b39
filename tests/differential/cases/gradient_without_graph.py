# The gradient of a sum is a constant, `create_graph` or not.
# expected: no-grad-root on line 8

import torch

w = torch.rand(3, requires_grad=True)
g = torch.autograd.grad(w.sum(), w, create_graph=True)[0]
g.sum().backward()
