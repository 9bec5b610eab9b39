# `split` returns several views.
# expected: multi-view on line 8

import torch

w = torch.randn(3, requires_grad=True)
a, b = torch.split(w * 1, 2)
b.sign_()
