# A contracted dimension that has size 1 on one side is summed over on the other: that operand itself is not saved.
# expected: ok

import torch

w = torch.rand(3, 1, requires_grad=True)
x = torch.rand(3, 4)
y = torch.tensordot(w, x, dims=1)
x.add_(1)
y.sum().backward()
