# The rest of a starred target has a known length.
# expected: ok

import torch

w = torch.rand(4, requires_grad=True)
head, *rest = w.exp().tensor_split(2)
loss = head.sum()
for _ in rest:
    loss.backward()
