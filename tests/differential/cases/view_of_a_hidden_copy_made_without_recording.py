# expected: no-grad-view on line 7
import torch

x = torch.randn(4, requires_grad=True)
with torch.no_grad():
    y = x.repeat_interleave(2)
y.mul_(x.sum())
