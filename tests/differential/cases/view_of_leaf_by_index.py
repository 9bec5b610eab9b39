# A row of a leaf is a view of it.
# expected: leaf-view on line 7

import torch

w = torch.rand(4, 4, requires_grad=True)
w[0].zero_()
