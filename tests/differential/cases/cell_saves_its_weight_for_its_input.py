# Its weight is saved for the gradient of its input alone.
# expected: ok

import torch
from torch import nn

cell = nn.GRUCell(4, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
y = cell(torch.rand(2, 4))
y.sum().backward(retain_graph=True)
optimizer.step()
y.sum().backward()
