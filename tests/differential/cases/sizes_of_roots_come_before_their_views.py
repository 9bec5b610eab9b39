# expected: non-scalar on line 8
import torch

c = torch.arange(4.0, requires_grad=True)
with torch.no_grad():
    u, *_ = c.chunk(2)
    c.mul_(2)
torch.autograd.backward([u, c])
