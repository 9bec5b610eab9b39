# `h[0] *= w` saves `w`.
# expected: ok

import torch

w = torch.tensor(2.0, requires_grad=True)
v = w * 1
h = torch.ones(3)
h[0] *= v
v.add_(1)
h.sum().backward()
