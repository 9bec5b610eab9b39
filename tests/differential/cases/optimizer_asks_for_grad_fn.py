# Python's `is_leaf` makes the `grad_fn` of a view whose base was written: here that is refused.
# expected: multi-view on line 9

import torch

c = torch.rand(4)
b, d = torch.chunk(c.detach().requires_grad_(), 2)
c[0] = 1.5
optimizer = torch.optim.SGD([b], lr=0.1)
