# expected: no-grad-view on line 4
import torch

scale = lambda x: (x * 2).sum()  # noqa: E731
u = torch.rand(3, 4, requires_grad=True)
h = u * 2
with torch.no_grad():
    b = h[0]
    h.sqrt_()
scale(b).backward()
