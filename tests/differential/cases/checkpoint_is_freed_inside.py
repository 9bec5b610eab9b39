# What is computed again is freed with it, and computed again by a second backward.
# expected: ok
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.ones(2, 3, requires_grad=True)
y = checkpoint(net, w, use_reentrant=True)
y.sum().backward(retain_graph=True)
optimizer.step()
y.sum().backward()
