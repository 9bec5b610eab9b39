# expected: ok
import copy

import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
loss = net(torch.ones(2, 3)).sum()
twin = copy.deepcopy(net)
twin.requires_grad_(False)
for weight in twin.parameters():
    weight.zero_()
loss.backward()
