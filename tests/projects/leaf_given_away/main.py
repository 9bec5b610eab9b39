"""Raises: a leaf Variable that requires grad"""

import torch
from writing import halve_

weight = torch.ones(2, requires_grad=True)
halve_(weight)  # error: [TLN203]
