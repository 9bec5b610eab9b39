# expected: saved on line 9, written on line 8
import torch

x = torch.randn(3, requires_grad=True)
deviation = x.std()
first, second = torch.autograd.grad(deviation, [deviation, deviation], retain_graph=True)
first.hypot_(deviation)
second.hypot_(deviation)
first.backward()
