# expected: freed on line 8
import torch

x = torch.randn(4, requires_grad=True)
norm = torch.norm(x)
gradient = torch.autograd.grad(norm, x, create_graph=True)[0]
gradient.sum().backward()
norm.backward()
