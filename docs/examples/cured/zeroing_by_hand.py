"""T3, cured: an optimizer knows all its tensors."""

import torch

x1 = torch.tensor(2.0, requires_grad=True)
x2 = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([x1, x2], lr=0.1)

for name in ("first: ", "second:"):
    optimizer.zero_grad()
    y = x1 * (x1 + x2)
    y.backward()
    print(name, x1.grad, x2.grad)
