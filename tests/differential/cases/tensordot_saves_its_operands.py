# `tensordot` is a matrix product of views.
# expected: saved on line 10, written on line 9

import torch

w = torch.rand(3, 4, requires_grad=True)
x = torch.rand(2, 3)
y = torch.tensordot(x, w, dims=1)
x.add_(1)
y.sum().backward()
