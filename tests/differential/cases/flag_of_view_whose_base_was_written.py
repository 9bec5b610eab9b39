# As for a view whose base was written with grad since.
# expected: ok

import torch

a = torch.eye(4, requires_grad=True)
b = torch.ones(4, 4, requires_grad=True)
with torch.no_grad():
    w = b.clamp(-1, 1)
    c = w[1:]
w.addcdiv_(a, a)
c.requires_grad_(True)
