# `requires_grad = False` on a computed tensor.
# expected: flag-on-non-leaf on line 8

import torch

w = torch.rand(3, requires_grad=True)
y = 1 - w
y.requires_grad = False
