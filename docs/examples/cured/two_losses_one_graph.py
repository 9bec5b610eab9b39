"""T10, cured twice: one backward on the sum, or, if `b` isn't meant to train `p`, a detached `c` for it."""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
b = c * q
a = c**2
print(torch.autograd.grad(a + b, (p, q)))

c = 2 * p
b = c.detach() * q
a = c**2
a.backward()
b.backward()
print(p.grad, q.grad)
