# Of a product the gradient of one factor depends on the other one alone.
# expected: unused on line 8
import torch

x = torch.ones(3, requires_grad=True)
y = torch.ones(3, requires_grad=True)
(gradient,) = torch.autograd.grad((x * y).sum(), x, create_graph=True)
torch.autograd.grad(gradient.sum(), x)
