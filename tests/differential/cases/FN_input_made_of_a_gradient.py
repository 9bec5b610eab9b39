# expected: unused on line 9
# said: ok: whether the gradient has a graph; the input made of it is refused with one and without
import torch

x = torch.rand(3, requires_grad=True)
loss = torch.nn.functional.l1_loss(x, torch.zeros(3))
(gradient,) = torch.autograd.grad(loss, x, create_graph=True)
twice = gradient * 2
torch.autograd.grad(x.sum(), twice)
