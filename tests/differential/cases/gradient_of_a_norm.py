# expected: optimizer on line 6
import torch

c = torch.randn(3, 1, requires_grad=True)
g = torch.autograd.grad(c.norm(), c, create_graph=True)[0]
torch.optim.SGD([c, g], lr=0.1)
