# expected: saved on line 12, written on line 8
# The gradient of a loss depends on both operands, whichever of them requires grad.
import torch
from torch import nn

y = torch.full((2, 3), 0.5, requires_grad=True)
a = y.abs()
y.detach().mul_(2)
h = torch.zeros_like(a)
g = torch.autograd.grad(nn.functional.mse_loss(h, a), a, create_graph=True)[0]
h = h - 0.1 * g
h.sum().backward()
