# expected: non-scalar on line 7
import torch

y = torch.nn.Parameter(torch.randn(4))
v = torch.nn.L1Loss()(y, y)
for _ in range(2):
    v = torch.autograd.grad(v, y, retain_graph=True, create_graph=True)[0]
