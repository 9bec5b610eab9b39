# The gradient of a sum is the one that was passed.
# expected: ok

import torch

w = torch.rand(1, requires_grad=True)
passed = torch.ones(1, requires_grad=True)
gradient = torch.autograd.grad(w + w.detach(), w, grad_outputs=passed, create_graph=True)
torch.autograd.grad(passed * 2, gradient)
