# `backward(inputs=...)` asks each input to retain its gradient.
# expected: retain-grad on line 8

import torch

w = torch.rand(3, requires_grad=True)
x = torch.rand(3)
(w * x).sum().backward(inputs=[x])
