"""T11, cured: `clone()` makes the copy."""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c_copy = c.detach().clone()
b = c_copy * q
a = c**2

a.backward()
b.backward()

print("before:", c_copy)
c.mul_(2)
print("after: ", c_copy)
