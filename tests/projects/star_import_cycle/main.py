"""Raises: modified by an inplace operation"""

# ruff: noqa: F403, F405

import torch
from stars import *

x = torch.ones(2, requires_grad=True)
y = grown(x)
y.mul_(2)  # error: [TLN201]
y.sum().backward()
