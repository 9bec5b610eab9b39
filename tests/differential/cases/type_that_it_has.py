# expected: freed on line 8
import torch

w = torch.ones(4, requires_grad=True)
x = w.type(torch.float32)
loss = x.abs().sum()
loss.backward()
loss.backward()
