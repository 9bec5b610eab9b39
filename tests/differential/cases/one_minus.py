# `1 - x` saves nothing.
# expected: ok

import torch

w = torch.rand(3, requires_grad=True)
y = (1 - w).sum()
y.backward()
y.backward()
