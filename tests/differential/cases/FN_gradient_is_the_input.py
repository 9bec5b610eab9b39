# expected: freed on line 8
# said: ok: which of the several nodes of a gradient is the last one, and whether that one holds anything
import torch

x = torch.tensor(2.0, requires_grad=True)
(gradient,) = torch.autograd.grad(x**2, x, create_graph=True)
gradient.backward(inputs=[gradient])
gradient.backward()
