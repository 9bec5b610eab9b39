# A gradient that comes to one output of a node is none of another's.
# expected: unused on line 8

import torch

w = torch.arange(4.0, requires_grad=True)
a, b, c, d = torch.unbind(w)
g = torch.autograd.grad(a, d)
