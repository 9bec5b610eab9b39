# An optimizer wants leaves.
# expected: optimizer on line 7

import torch

w = torch.rand(3, requires_grad=True)
optimizer = torch.optim.Adam([w, w.sort().values])
