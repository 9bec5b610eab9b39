# expected: freed on line 8
import torch

x = torch.zeros(1, requires_grad=True)
y = torch.celu(x)
gradient = torch.autograd.grad(y, x, create_graph=True)[0]
torch.autograd.grad(gradient, x)
gradient.backward()
