# `detach()` of a row shares the version counter of all rows.
# expected: saved on line 12, written on line 11

import torch

x = torch.linspace(0, 1, 4)
a, b = x.split(2)
h = a.detach().requires_grad_()
y = h * b
with torch.no_grad():
    h.reciprocal_()
y.sum().backward()
