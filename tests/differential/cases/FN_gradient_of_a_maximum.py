# expected: no-grad-root on line 7
# said: ok: that the gradient uses what was saved for a comparison alone, and so has no graph
import torch

x = torch.ones(1, requires_grad=True)
(gradient,) = torch.autograd.grad(torch.maximum(x, torch.zeros(1)), x, create_graph=True)
gradient.backward()
