"""Raises: a leaf Variable that requires grad is being used in an in-place operation"""

import torch
from layers import make, make_scaled

make("adapter", torch.ones(3))
make_scaled("adapter", torch.ones(3))
