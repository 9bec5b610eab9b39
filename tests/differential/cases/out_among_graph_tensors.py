# `out=` is refused before anything is looked at.
# expected: out on line 7

import torch

w = torch.tensor(2.0, requires_grad=True)
torch.exp(w, out=w)
