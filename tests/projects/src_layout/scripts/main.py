"""Raises: modified by an inplace operation"""

import shapes.activations as act
import torch

x = torch.ones(2, requires_grad=True)
y = act.squash(x)
y[0] = 0  # error: [TLN205]
y.sum().backward()
