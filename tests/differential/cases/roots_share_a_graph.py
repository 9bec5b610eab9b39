# Several roots are one pass: the shared graph is freed once.
# expected: ok

import torch

w = torch.tensor(2.0, requires_grad=True)
c = w * w
torch.autograd.backward([c * 2, c * 3])
