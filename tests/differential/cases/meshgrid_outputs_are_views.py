# Each output of `meshgrid` is a view of its own input.
# expected: leaf-view on line 9

import torch

w = torch.rand(3, requires_grad=True)
a, b = torch.meshgrid(w, torch.rand(2), indexing="ij")
b[0, 0] = 1.0
a[0, 0] = 1.0
