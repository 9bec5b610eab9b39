# Of several roots torch first asks for their sizes, then whether they require grad.
# expected: non-scalar on line 8

import torch

a = torch.rand(3)
w = torch.rand(3, requires_grad=True)
torch.autograd.backward([a, w * 2])
