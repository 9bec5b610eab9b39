"""
T13: an in-place operation after `*` has saved the value.

The saved tensor is the detached one: it shares memory and version counter with `c`.
"""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c_copy = c.detach()
b = c_copy * q
c.mul_(1.0)  # error: [TLN201]
a = c**2

a.backward()
b.backward()
