# A tensor made of the numbers of another has its dtype: `real` returns itself.
# expected: freed on line 10

import torch

w = torch.rand(3, requires_grad=True)
y = (torch.tensor(w.tolist()) * w).exp()
v = y.real
y.sum().backward()
v.sum().backward()
