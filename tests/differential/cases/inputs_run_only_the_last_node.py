# `backward(inputs=[root])` runs the root's own node (MeanBackward, which saves nothing), not those behind it.
# expected: ok

import torch
from torch import nn

w = torch.rand(3, requires_grad=True)
loss = nn.functional.l1_loss(w, w * 2)
loss.backward()
loss.backward(inputs=[loss])
