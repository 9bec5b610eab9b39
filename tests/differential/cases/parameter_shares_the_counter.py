# A Parameter is made by `detach()`: it shares memory and version counter with what it is made of.
# expected: saved on line 10, written on line 9

import torch

a = torch.rand(3)
p = torch.nn.Parameter(a)
y = p * torch.ones(3, requires_grad=True)
a.add_(1)
y.sum().backward()
