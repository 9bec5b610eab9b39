# Rows of a transposed matrix do not lie one behind the other: `reshape` copies, and the copy is no view.
# expected: flag-on-non-leaf on line 10

import torch

w = torch.rand(3, 4, requires_grad=True)
a = w.t().reshape(-1)
b = (w.detach() * 2).t().exp().reshape(-1)
b.requires_grad_(False)
a.requires_grad_(False)
