"""
T3: gradients zeroed by hand before there are any.

Until the first backward `.grad` is None.
"""

import torch

model = torch.nn.Linear(3, 1)
x = torch.ones(4, 3)

model.weight.grad.zero_()  # error: [TLN401]
model(x).sum().backward()
print(model.weight.grad)
