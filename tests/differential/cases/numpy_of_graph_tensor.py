# `numpy()` of what requires grad; under `no_grad` it is allowed.
# expected: numpy on line 9

import torch

w = torch.rand(3, requires_grad=True)
with torch.no_grad():
    w.numpy()
w.numpy()
