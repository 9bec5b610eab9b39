"""
T10: two losses share `c`, and each calls backward.

The second one comes to the node of `c`, which the first has freed.
"""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
b = c * q
a = c**2

a.backward()
b.backward()  # error: [TLN101]
print(p.grad, q.grad)
