# expected: no-grad-root on line 11
import torch

c = torch.randn(4)
h = c.detach().clone()
kept = []
for _ in range(9):
    h = h + 1
    kept.append(h)
for v in kept:
    v.sum().backward()
