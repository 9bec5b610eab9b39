# expected: freed on line 9
# said: ok: whether the gradient of `var_mean` has a graph; that of `var` is known
import torch

x = torch.randn(4, requires_grad=True)
variance, mean = torch.var_mean(x)
(gradient,) = torch.autograd.grad(variance, x, create_graph=True)
gradient.sum().backward()
gradient.sum().backward()
