# `einsum` of two operands that contracts a dimension is `bmm`: a second backward raises.
# expected: freed on line 9

import torch

w = torch.rand(4, 4, requires_grad=True)
a = torch.einsum("ij,ij->i", w, w)
a.sum().backward()
a.sum().backward()
