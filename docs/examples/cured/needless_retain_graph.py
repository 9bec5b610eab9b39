"""T7, cured: the same gradient, and the saved tensors are free."""

import torch

x = torch.rand(4, requires_grad=True)
loss = torch.mean(2.0 * x**2)

loss.backward()
print(x.grad)
