import torch
from torch import nn

cell = nn.RNNCell(4, 8)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state = torch.zeros(32, 8)

for batch in torch.randn(10, 32, 4):
    state = cell(batch, state)
    loss = state.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
