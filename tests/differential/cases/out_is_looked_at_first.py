# `out=` is refused before torch asks a view for its grad_fn.
# expected: out on line 10

import torch

w = torch.rand(3, requires_grad=True).exp()
with torch.no_grad():
    v = w.view(-1)
w.log_()
torch.add(v, 1, out=w)
