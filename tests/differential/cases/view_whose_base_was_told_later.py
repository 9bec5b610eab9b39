# expected: ok
import torch

h = torch.ones(())
u = torch.unsqueeze(h, 0)
h.requires_grad = True
t = torch.zeros_like(u)
for _ in range(2):
    t = t + u * u
    t.sum().backward()
