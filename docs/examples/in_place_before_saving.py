"""
T12: an in-place operation before anybody has saved the value.

It is allowed, and the gradients are right. The rule of thumb still says: be explicit (`torchlint check --strict`).
"""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
c.mul_(1.0)  # strict: [TLN204]
c_copy = c.detach()
b = c_copy * q
a = c**2

a.backward()
b.backward()
print(p.grad, q.grad)
