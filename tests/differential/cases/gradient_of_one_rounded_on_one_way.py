# expected: freed on line 8
import torch

a = torch.rand(4, requires_grad=True)
loss = a.round().exp().mean() + (a * a).sum()
(gradient,) = torch.autograd.grad(loss, a, create_graph=True)
gradient.exp().sum().backward()
gradient.exp().sum().backward()
