"""
T3: gradients zeroed one by one.

It works as long as nobody forgets a tensor.
"""

import torch

x1 = torch.tensor(2.0, requires_grad=True)
x2 = torch.tensor(3.0, requires_grad=True)

y = x1 * (x1 + x2)
y.backward()
print("first: ", x1.grad, x2.grad)

x1.grad.zero_()  # smell: [TLN401]
x2.grad.zero_()
y = x1 * (x1 + x2)
y.backward()
print("second:", x1.grad, x2.grad)
