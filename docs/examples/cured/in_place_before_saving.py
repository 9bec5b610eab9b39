"""T12, explicit: `c` is a new tensor, and nobody has to know what was saved."""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c = c * 1.0
c_copy = c.detach()
b = c_copy * q
a = c**2

a.backward()
b.backward()
print(p.grad, q.grad)
