# It is the gradient that came in.
# expected: ok

import torch

x = torch.tensor(2.0, requires_grad=True)
gradient = torch.autograd.grad(x.prod(), x, create_graph=True)[0]
torch.optim.SGD([gradient])
