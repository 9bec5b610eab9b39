# `2 ** x` saves the exponent and its result.
# expected: freed on line 9

import torch

w = torch.rand(3, requires_grad=True)
y = 2**w
y.sum().backward()
y.sum().backward()
