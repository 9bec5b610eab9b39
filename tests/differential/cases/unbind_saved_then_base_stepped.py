# Unpacking a saved view asks for its `grad_fn`, which is gone: not the error of a changed version.
# expected: multi-view on line 12

import torch

w = torch.rand(3, 1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
a, b, c = w
loss = a.exp() * a
b.backward()
optimizer.step()
loss.backward()
