"""T3, cured: `zero_grad()` doesn't mind."""

import torch

model = torch.nn.Linear(3, 1)
x = torch.ones(4, 3)

model.zero_grad()
model(x).sum().backward()
print(model.weight.grad)
