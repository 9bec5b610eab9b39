# `F.relu(x, inplace=True)` saves its result.
# expected: saved on line 11, written on line 10

import torch
import torch.nn.functional as F

w = torch.rand(3, requires_grad=True)
y = w * 1
F.relu(y, inplace=True)
y.add_(1)
y.sum().backward()
