# expected: unused on line 7
import torch

w = torch.rand(1, requires_grad=True)
loss = torch.nn.functional.logsigmoid(w)
gradient = torch.autograd.grad(loss, w, create_graph=True)
torch.autograd.grad(w, gradient)
