# A gradient leads to nothing that was recorded after it.
# expected: unused on line 10

import torch

w = torch.nn.Parameter(torch.randn(2, 3))
h = torch.lerp(w, w, 0.5)
gradient = torch.autograd.grad(h.sum(), w, create_graph=True)[0]
mean = w.mean()
torch.autograd.grad((gradient * w).sum(), mean)
