"""T13, cured: the new value gets memory of its own."""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c_copy = c.detach()
b = c_copy * q
c = c.mul(1.0)
a = c**2

a.backward()
b.backward()
print(p.grad, q.grad)
