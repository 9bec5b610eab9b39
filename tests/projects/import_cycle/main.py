"""Raises: modified by an inplace operation"""

import left
import torch

x = torch.ones(2, requires_grad=True)
y = left.deeper(x, 2)
y.mul_(2)  # error: [TLN201]
y.sum().backward()
