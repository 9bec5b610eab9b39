# C++ asks a view for the grad_fn it has: setting the flag of one that was written under `no_grad` is allowed.
# expected: no-grad-view on line 11

import torch

w = torch.tensor(2.0, requires_grad=True)
with torch.no_grad():
    v = w.view(-1)
    v.zero_()
v.requires_grad_()
u = v.unfold(0, 1, 1)
