# In evaluation mode dropout returns its input.
# expected: saved on line 11, written on line 10

import torch

drop = torch.nn.Dropout(0.5).eval()
w = torch.rand(3, requires_grad=True)
y = w.sigmoid()
z = drop(y)
z.add_(1)
y.sum().backward()
