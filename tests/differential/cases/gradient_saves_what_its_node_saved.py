# expected: saved on line 8, written on line 7
import torch

x = torch.tensor(2.0, requires_grad=True)
(gradient,) = torch.autograd.grad(torch.cosh(x), x, create_graph=True)
with torch.no_grad():
    x.tanh_()
gradient.backward()
