# The gradient of a loss depends on what it saved: differentiated again, it comes to the freed graph of that.
# expected: freed on line 10

import torch

w = torch.rand(3, requires_grad=True)
z = w.exp()
(g,) = torch.autograd.grad(torch.nn.functional.mse_loss(z, z), z, create_graph=True)
z.sum().backward()
g.mean().backward()
