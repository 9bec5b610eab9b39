# expected: saved on line 9, written on line 8
import torch

w = torch.rand(2, 5, 3, requires_grad=True)
x = torch.rand(3, 4)
y = torch.einsum("...i,ij->...j", w, x)
loss = y.sum()
x.add_(1)
loss.backward()
