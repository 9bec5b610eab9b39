# expected: freed on line 7
import torch

x = torch.rand(3, requires_grad=True)
(gradient,) = torch.autograd.grad(torch.nn.functional.l1_loss(x, torch.zeros(3)), x, create_graph=True)
gradient.sum().backward()
gradient.sum().backward()
