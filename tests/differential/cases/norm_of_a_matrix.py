# `linalg.norm` without a dimension is the norm of all elements: it saves them.
# expected: saved on line 10, written on line 9

import torch

w = torch.rand(2, 3, requires_grad=True)
y = w * 2
n = torch.linalg.norm(y)
y.unsqueeze_(0)
n.backward()
