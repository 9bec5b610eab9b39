# expected: ok
import torch

x = torch.randn(4, requires_grad=True)
y = (x * 1).repeat_interleave(2)
y.mul_(2)
y.sum().backward()
