# `einsum` of one operand that sums nothing gives a view.
# expected: leaf-view on line 8

import torch

w = torch.rand(2, 3, requires_grad=True)
a = torch.einsum("ij->ji", w)
a.zero_()
