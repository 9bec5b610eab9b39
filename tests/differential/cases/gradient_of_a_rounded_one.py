# expected: no-grad-root on line 8
import torch

a = torch.rand(4, requires_grad=True)
y = a.round()
loss = y.sum() + y.exp().mean()
(gradient,) = torch.autograd.grad(loss, a, create_graph=True)
gradient.sum().backward()
