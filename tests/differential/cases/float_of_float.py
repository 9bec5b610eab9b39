# `float()` of a float32 tensor is the tensor itself, a leaf.
# expected: leaf on line 8

import torch

w = torch.randn(3, 1, requires_grad=True)
v = w.float()
v.erf_()
