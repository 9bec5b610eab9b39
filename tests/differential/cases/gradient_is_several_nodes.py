# expected: ok
import torch

a = torch.arange(4.0, requires_grad=True)
h = a.sum()
g = torch.autograd.grad(h.pow(2).sum(), h, create_graph=True)[0]
h.mul_(2)
g.backward(inputs=[g])
