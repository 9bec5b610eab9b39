# A view made under `no_grad`, written outside.
# expected: no-grad-view on line 10

import torch

w = torch.randn(3, requires_grad=True)
y = w * 2
with torch.no_grad():
    v = y[1:]
v.sigmoid_()
