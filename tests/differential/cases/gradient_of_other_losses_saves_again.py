# So do those of `huber_loss` and `smooth_l1_loss`.
# expected: saved on line 13, written on line 12

import torch
from torch import nn

w = torch.rand(3, requires_grad=True)
a, b = w * 1, w * 2
(g,) = torch.autograd.grad(nn.functional.huber_loss(a, b) + nn.functional.smooth_l1_loss(a, b), a, create_graph=True)
with torch.no_grad():
    _ = a + 1
    a.add_(1)
g.sum().backward()
