# `exp` of a transposed matrix is transposed, too: `reshape` copies, so what was saved is not what is written.
# expected: ok

import torch

w = torch.rand(3, 4, requires_grad=True)
y = w.t().exp()
y.reshape(-1).mul_(2)
y.sum().backward()
