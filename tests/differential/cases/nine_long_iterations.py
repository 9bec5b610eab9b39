# expected: freed on line 15
import torch

x = torch.arange(4.0, requires_grad=True)
h = torch.zeros(4)
total = 0
i = 0
while i < 9:
    h = h * x + x
    h.add_(1)
    total = total + h.sum()
    h.sum().backward(retain_graph=True)
    i += 1
h.sum().backward()
total.backward()
