# The gradient of a power has a graph, and that is freed.
# expected: freed on line 9

import torch

w = torch.tensor(2.0, requires_grad=True)
g = torch.autograd.grad(w.pow(2), w, create_graph=True)[0]
g.backward()
g.backward()
