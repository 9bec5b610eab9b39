# A view cannot be detached in place.
# expected: detach-view on line 8

import torch

w = torch.rand(2, 3, requires_grad=True)
v = w.reshape(-1)
v.detach_()
