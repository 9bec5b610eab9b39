# A module starts in training mode.
# expected: saved on line 9, written on line 8

import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5, inplace=True))
x = net[0](torch.ones(2, 3)).sigmoid()
net[1](x)
x.sum().backward()
