"""
T7: a graph is kept, and nobody comes back for it.
"""

import torch

x = torch.rand(4, requires_grad=True)
loss = torch.mean(2.0 * x**2)

loss.backward(retain_graph=True)  # smell: [TLN102]
print(x.grad)
