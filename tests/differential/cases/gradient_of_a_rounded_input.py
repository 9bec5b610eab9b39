# expected: ok
import torch

a = torch.rand(4, requires_grad=True)
y = (a * 2).round()
(gradient,) = torch.autograd.grad(y.exp().sum(), y, create_graph=True)
gradient.sum().backward()
