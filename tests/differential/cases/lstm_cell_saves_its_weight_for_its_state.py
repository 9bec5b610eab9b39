# In the first step the state requires no grad.
# expected: saved on line 13, written on line 14

import torch
from torch import nn

cell = nn.LSTMCell(4, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h, c = torch.zeros(3, 4), torch.zeros(3, 4)
for _ in range(3):
    h, c = cell(torch.rand(3, 4), (h, c))
    loss = h.sum()
    loss.backward(retain_graph=True)
    optimizer.step()
