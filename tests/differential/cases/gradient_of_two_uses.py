# Of two uses the gradients are added: the sum is no view.
# expected: ok

import torch

w = torch.rand(1, requires_grad=True)
(g,) = torch.autograd.grad(w.sum() + w.sum(), w)
g += w
