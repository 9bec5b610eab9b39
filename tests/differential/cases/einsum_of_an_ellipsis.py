# expected: freed on line 9
import torch

w = torch.rand(5, 3, 4, requires_grad=True)
x = torch.rand(3, 4)
y = torch.einsum("...i,...i->...i", x, w)
loss = y.sum()
loss.backward()
loss.backward()
