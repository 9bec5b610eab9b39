"""
T13: an in-place operation after `*` has saved the value.

The saved tensor is the detached one: it shares memory and version counter with `c`.
"""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c_copy = c.detach()  # note: `detach()` shares memory with `c`
b = c_copy * q  # note: `*` saves its input `c_copy`
c.mul_(1.0)  # error: [TLN201]  # note: `mul_` overwrites `c`
a = c**2

a.backward()
b.backward()  # note: backward reads it here
