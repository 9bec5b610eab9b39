# expected: ok
import torch

x = torch.eye(4, requires_grad=True)
given = x.exp() if torch.rand(1).item() > 2 else x
torch.optim.SGD([given])
