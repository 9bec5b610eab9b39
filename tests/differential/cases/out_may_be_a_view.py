# `einsum` of several operands gives no view: under `no_grad` its result needs no grad.
# expected: ok

import torch

y = torch.rand(1, 3, requires_grad=True)
with torch.no_grad():
    b = torch.einsum("ij,ij->i", y, y)
torch.sigmoid(b, out=b)
