# `broadcast_tensors` returns a tensor that has the shape already itself.
# expected: leaf on line 9

import torch

w = torch.rand(3, requires_grad=True)
a, b = torch.broadcast_tensors(w, torch.tensor(1.0))
optimizer = torch.optim.SGD([a], lr=0.1)
a.add_(1)
