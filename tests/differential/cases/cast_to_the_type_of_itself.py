# expected: freed on line 8
import torch
from torch import nn

w = nn.Parameter(torch.randn(3))
y = w.square().mean()
y.backward()
y.type_as(y).backward()
