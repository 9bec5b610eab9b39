# `requires_grad_()` on a computed tensor changes nothing and is allowed.
# expected: ok

import torch

w = torch.rand(3, requires_grad=True)
y = 1 - w
y.requires_grad_()
y.sum().backward()
