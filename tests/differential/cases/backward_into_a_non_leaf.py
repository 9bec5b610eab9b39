# `backward(inputs=[y])` runs the node of `y` too.
# expected: freed on line 9

import torch

w = torch.rand((), requires_grad=True)
y = w.exp()
y.backward(inputs=[y])
y.backward()
