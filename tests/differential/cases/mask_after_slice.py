# An index with a slice and a list writes through a view.
# expected: leaf-view on line 7

import torch

w = torch.rand(3, 4, requires_grad=True)
w[1:, [0, 1]] = 0
