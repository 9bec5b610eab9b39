# Whether `reshape` copies what `flip` gives is not known; of neither is it a leaf.
# expected: optimizer on line 7

import torch

x = torch.eye(4, requires_grad=True)
torch.optim.SGD([torch.flip(x[:, 1:], dims=[0]).reshape(-1)])
