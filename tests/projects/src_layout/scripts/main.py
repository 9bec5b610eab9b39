"""Raises: modified by an inplace operation"""

import torch

import shapes.activations as act

x = torch.ones(2, requires_grad=True)
y = act.squash(x)
y[0] = 0  # error: [TLN205]
y.sum().backward()
