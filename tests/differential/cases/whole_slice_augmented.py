# `w[:] += 1` goes through a view.
# expected: leaf-view on line 7

import torch

w = torch.rand(3, requires_grad=True)
w[:] += 1
