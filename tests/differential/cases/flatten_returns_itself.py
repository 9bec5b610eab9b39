# `flatten` of a vector is the vector, a leaf.
# expected: ok

import torch

w = torch.arange(4.0, requires_grad=True)
v = w.flatten()
optimizer = torch.optim.SGD([v], lr=0.1)
assert v is w
