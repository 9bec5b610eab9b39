# expected: no-grad-view on line 8
import torch

c = torch.arange(4.0, requires_grad=True)
with torch.no_grad():
    u = c[:2]
    c.mul_(2)
u.backward(torch.ones_like(u))
