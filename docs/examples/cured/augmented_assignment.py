"""T13, cured: `c = c * 1.0` is not."""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
b = c * q
c = c * 1.0

b.backward()
print(p.grad, q.grad)
