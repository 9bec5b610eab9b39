# expected: saved on line 10, written on line 8
import torch

w = torch.ones(4, requires_grad=True)
b = w[:]
u = torch.maximum(b, b)
product = b * u
u.detach().sub_(1)
w.detach().zero_()
product.sum().backward()
