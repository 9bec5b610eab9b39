# expected: freed on line 8
import torch

x = torch.rand(3, requires_grad=True)
a, b = x.sin(), x.exp()
(gradient,) = torch.autograd.grad((a * b).sum(), a, create_graph=True)
b.sum().backward()
gradient.sum().backward()
