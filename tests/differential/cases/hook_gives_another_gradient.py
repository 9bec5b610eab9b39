# expected: ok
import torch

a = torch.randn(3, 4, requires_grad=True).exp()
v = torch.randn(3, 4, requires_grad=True) * 2
a.register_hook(lambda g: g * 2)
c = torch.autograd.grad(a.sum(), a)[0]
c[...] = v
