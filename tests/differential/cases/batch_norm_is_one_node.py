# `batch_norm` is one node: asked for its result's gradient, `backward` runs and frees it.
# expected: freed on line 9

import torch

layer = torch.nn.BatchNorm1d(4)
y = layer(torch.rand(3, 4))
y.sum().backward(inputs=[y])
y.sum().backward(inputs=[y])
