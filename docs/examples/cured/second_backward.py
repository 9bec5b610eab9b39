"""T1, cured: each backward has a graph of its own, and `autograd.grad` returns gradients without adding them up."""

import torch

x1 = torch.tensor(2.0, requires_grad=True)
x2 = torch.tensor(3.0, requires_grad=True)

y = x1 * (x1 + x2)
print("first: ", torch.autograd.grad(y, (x1, x2)))

y = x1 * (x1 + x2)
print("second:", torch.autograd.grad(y, (x1, x2)))
