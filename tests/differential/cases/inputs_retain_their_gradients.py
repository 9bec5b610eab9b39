# `backward(inputs=...)` asks each input to retain its gradient: an optimizer then takes it.
# expected: ok

import torch

w = torch.rand(4, requires_grad=True)
h = w / 2
h.norm().backward(inputs=[h])
optimizer = torch.optim.SGD([h], lr=0.1)
