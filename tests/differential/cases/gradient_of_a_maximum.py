# expected: no-grad-root on line 6
import torch

x = torch.ones(1, requires_grad=True)
(gradient,) = torch.autograd.grad(torch.maximum(x, torch.zeros(1)), x, create_graph=True)
gradient.backward()
