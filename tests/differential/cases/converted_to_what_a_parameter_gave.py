# expected: leaf on line 8
import torch
from torch import nn

w = nn.Parameter(torch.ones(3))
h = torch.zeros(3, requires_grad=True)
same = h.type_as(w * w.sum().item())
same[...] = 1
