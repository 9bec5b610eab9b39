# expected: leaf on line 6
import torch
from torch import nn

w = nn.Parameter(torch.randn(3))
w.type_as(w).mul_(2)
