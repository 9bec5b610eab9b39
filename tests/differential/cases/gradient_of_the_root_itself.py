# The gradient of the root itself is the one that was passed: it has no graph, whatever `create_graph` says.
# expected: no-grad-root on line 8

import torch

a = torch.tensor(2.0, requires_grad=True)
(g,) = torch.autograd.grad(a, a, create_graph=True)
g.backward()
