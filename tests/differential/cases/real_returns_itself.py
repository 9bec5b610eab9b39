# `real` of a real tensor is the tensor.
# expected: ok

import torch

w = torch.tensor(2.0, requires_grad=True)
optimizer = torch.optim.SGD([w.real], lr=0.1)
