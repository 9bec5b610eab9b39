# expected: leaf on line 7
import torch

x = torch.ones(3, requires_grad=True)
y = torch.ones(3, requires_grad=True)
(gradient,) = torch.autograd.grad(y.exp().sum(), [x], create_graph=True, materialize_grads=True)
gradient.add_(1)
