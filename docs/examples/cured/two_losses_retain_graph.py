"""T8, cured twice: one backward on the sum, or one from the common part with the vector that the losses stand for."""

import torch

x = torch.rand(4, requires_grad=True)
c = 2.0 * x**2
a = torch.sum(c)
b = torch.mean(c)
(of_sum,) = torch.autograd.grad(a + b, x)

c = 2.0 * x**2
c.backward(gradient=torch.full((4,), 1.0 + 1.0 / 4.0))
assert torch.allclose(x.grad, of_sum)
