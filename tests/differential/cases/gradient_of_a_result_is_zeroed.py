# expected: freed on line 9
import torch

x = torch.randn(4, requires_grad=True)
y = x.exp()
y.retain_grad()
y.sum().backward()
y.grad.zero_()
y.sum().backward()
