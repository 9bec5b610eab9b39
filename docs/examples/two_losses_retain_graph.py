"""
T8: two losses share a graph, and `retain_graph=True` lets both run through it.

It is needed as written, but the shared part is run through twice.
"""

import torch

x = torch.rand(4, requires_grad=True)
c = 2.0 * x**2
a = torch.sum(c)
b = torch.mean(c)

b.backward(retain_graph=True)  # smell: [TLN102]
a.backward()
print(x.grad)
