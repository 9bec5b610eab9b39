# Each part that `tensor_split` gives has a node of its own.
# expected: unused on line 8

import torch

w = torch.rand(4, requires_grad=True)
a, b = w.tensor_split(2)
(g,) = torch.autograd.grad(a, b, torch.ones(2))
