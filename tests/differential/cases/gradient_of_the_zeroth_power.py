# It is zero, whatever the number is.
# expected: ok

import torch

x = torch.tensor(2.0, requires_grad=True)
gradient = torch.autograd.grad(x**0, x, create_graph=True)[0]
torch.optim.SGD([gradient])
