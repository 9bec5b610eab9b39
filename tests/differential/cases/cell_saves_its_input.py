# A GRU cell is two linear layers and gates: it saves its input, not its result.
# expected: saved on line 12, written on line 11

import torch
from torch import nn

cell = nn.GRUCell(4, 3)
x = torch.rand(2, 4)
y = cell(x, torch.rand(2, 3))
y.add_(1)
x.add_(1)
y.sum().backward()
