# A second gradient, with a graph, is added to the first: `.grad` is there, and a step writes the parameter.
# expected: saved on line 11, written on line 10

import torch

w = torch.rand(4, requires_grad=True)
w.sum().backward()
loss = (w * w).sum()
loss.backward(create_graph=True)
torch.optim.SGD([w], lr=0.1).step()
loss.backward(retain_graph=True)
