# The first iteration makes the graph, the second frees it, the third comes to it again.
# expected: freed on line 8

import torch

u = torch.arange(4.0, requires_grad=True)
for _ in range(8):
    u.exp().sum().backward()
    u = (u - torch.ones(4)).abs().mean()
