# expected: freed on line 9
# said: ok: `@` is composed by the ranks of its operands; only of `mm`, `mv`, `dot` and `bmm` is the gradient known
import torch

x = torch.ones(1, 3, requires_grad=True)
w = torch.ones(3, 3, requires_grad=True)
(gradient,) = torch.autograd.grad((x @ w).sum(), x, create_graph=True)
gradient.sum().backward()
gradient.sum().backward()
