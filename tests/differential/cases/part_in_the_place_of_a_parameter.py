# An optimizer takes a tuple for a name and its parameter.
# expected: optimizer on line 8

import torch

w = torch.nn.Parameter(torch.randn(2))
torch.optim.SGD([(w.exp(), w), ("w", w)])
torch.optim.SGD([w.chunk(2)])
