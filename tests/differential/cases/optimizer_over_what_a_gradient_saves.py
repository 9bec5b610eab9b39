# expected: optimizer on line 7
import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
(gradient,) = torch.autograd.grad((y * y).sum(), y, create_graph=True)
torch.optim.SGD([y], lr=0.1)
