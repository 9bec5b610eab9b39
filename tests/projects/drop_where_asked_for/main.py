"""Raises: modified by an inplace operation"""

import blocks
import torch

net = getattr(blocks, eval("'Asked'"))(3, 0.2)
net(torch.rand(2, 3)).sum().backward()
