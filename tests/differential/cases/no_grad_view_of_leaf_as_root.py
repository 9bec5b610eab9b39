# A view made under `no_grad` of a leaf requires grad and is not recorded.
# expected: no-grad-root on line 10

import torch

w = torch.randn(3, requires_grad=True)
with torch.no_grad():
    v = w[0]
assert v.requires_grad
v.backward()
