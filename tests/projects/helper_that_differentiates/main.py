"""Raises: backward through the graph a second time"""

import torch
from training.steps import update

cell = torch.nn.RNNCell(2, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(1, 3)
for _ in range(3):
    h = cell(torch.ones(1, 2), h)
    update(optimizer, h.sum())  # error: [TLN101]
