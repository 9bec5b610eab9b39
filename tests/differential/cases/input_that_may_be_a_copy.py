# A cast may give the tensor itself: then the root depends on it.
# expected: ok

import torch

y = torch.rand(3, requires_grad=True)
u = y.masked_select(y > 0).sum()
g = torch.autograd.grad(u, u.float())
