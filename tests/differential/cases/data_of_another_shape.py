# expected: ok
import torch

a = torch.arange(4.0, requires_grad=True)
a.data = torch.ones(3).mean().data
b = a.clone()
g = torch.autograd.grad(a, a)
b.backward()
