# The gradient of a sum is the incoming one, expanded: a view, and made under `no_grad`.
# expected: no-grad-view on line 8

import torch

w = torch.rand(1, requires_grad=True)
(g,) = torch.autograd.grad(w.sum(), w)
g += w
