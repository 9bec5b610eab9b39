# expected: saved on line 8, written on line 7
# said: ok: of the several nodes of `multi_dot` it is not known that one saves a view of the vector
import torch

x = torch.arange(4.0, requires_grad=True)
y = torch.linalg.multi_dot([x, x])
x.detach()[()] = 0.5
y.backward(retain_graph=True)
