# A `while` loop that counts is followed as `for` over a range is.
# expected: freed on line 11

import torch

w = torch.rand(3, requires_grad=True)
h = w * 1
i = 0
while i < 3:
    h = torch.tanh(h * w)
    h.sum().backward()
    i += 1
