# `double().float()` copies twice.
# expected: ok

import torch

w = torch.randn(1, 3, requires_grad=True)
v = w.double().float()
v.mul_(2)
v.sum().backward()
