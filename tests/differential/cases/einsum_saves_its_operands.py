# … and saves both operands.
# expected: saved on line 10, written on line 9

import torch

w = torch.rand(4, 3, requires_grad=True)
x = torch.rand(2, 3)
y = torch.einsum("bj,ij->bi", x, w)
x.add_(1)
y.sum().backward()
