"""
T11: a detached tensor is not a copy.

`detach()` leaves the graph and keeps the memory: what is written to `c` shows in `c_copy`.
"""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c_copy = c.detach()
b = c_copy * q
a = c**2

a.backward()
b.backward()

print("before:", c_copy)
c.mul_(2)  # warning: [TLN206]  # strict: [TLN204]
print("after: ", c_copy)
