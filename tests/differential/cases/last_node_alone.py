# `binary_cross_entropy_with_logits` is one node: `backward(inputs=[root])` frees it.
# expected: freed on line 9

import torch

w = torch.rand(3, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy_with_logits(w, torch.ones(3))
loss.backward(inputs=[loss])
loss.backward()
