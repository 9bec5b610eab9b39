# `backward(create_graph=True)` sets `.grad`, too: a step then writes the parameter.
# expected: saved on line 12, written on line 11

import torch
from torch import nn

w = torch.rand(3, requires_grad=True)
optimizer = torch.optim.Adam([w])
loss = nn.functional.binary_cross_entropy_with_logits(w, torch.ones(3))
nn.L1Loss()(w, torch.zeros(3)).backward(create_graph=True)
optimizer.step()
loss.backward()
