# What `materialize_grads` gives is a leaf.
# expected: unused on line 8
import torch

x = torch.ones(3, requires_grad=True)
y = torch.ones(3, requires_grad=True)
(gradient,) = torch.autograd.grad(y.exp().sum(), [x], create_graph=True, materialize_grads=True)
torch.autograd.grad(gradient.sum(), x)
