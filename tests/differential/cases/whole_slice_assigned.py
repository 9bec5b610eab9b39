# `w[:] = 0` goes to the tensor itself.
# expected: leaf on line 7

import torch

w = torch.rand(3, requires_grad=True)
w[:] = 0
