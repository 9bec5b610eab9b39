# expected: unused on line 8
import torch

x = torch.rand(3, requires_grad=True)
loss = torch.nn.functional.l1_loss(x, torch.zeros(3))
(gradient,) = torch.autograd.grad(loss, x, create_graph=True)
twice = gradient * 2
torch.autograd.grad(x.sum(), twice)
