"""
T1: two backwards through one graph.

The first backward frees what `*` has saved; the second one needs it.
"""

import torch

x1 = torch.tensor(2.0, requires_grad=True)
x2 = torch.tensor(3.0, requires_grad=True)

y = x1 * (x1 + x2)
y.backward()
print("first: ", x1.grad, x2.grad)

y.backward()  # error: [TLN101]
print("second:", x1.grad, x2.grad)
