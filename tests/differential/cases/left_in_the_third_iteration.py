# expected: freed on line 13
import torch

x = torch.randn(3, requires_grad=True)
t = x.sigmoid()
i = 0
while True:
    t = t * x
    i += 1
    if i >= 3:
        break
t.sum().backward()
t.sum().backward()
