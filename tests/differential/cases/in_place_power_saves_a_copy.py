# expected: ok
import torch

y = torch.rand(3, requires_grad=True)
h = torch.dot(y, torch.ones(3))
h **= 2
g = torch.autograd.grad(h, y, create_graph=True)[0]
g.mean().backward()
