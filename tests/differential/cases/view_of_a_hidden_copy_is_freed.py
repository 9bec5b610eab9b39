# expected: freed on line 8
import torch

x = torch.eye(4, requires_grad=True)
y = x.repeat_interleave(2)
y.trunc_()
y.sum().backward()
y.sum().backward()
