# expected: saved on line 9, written on line 7
import torch

b = torch.eye(4, requires_grad=True) * 1
m = b * 2
total = torch.addmm(b, b, m).sum()
b[0] = 2.0
m[0] = 2.0
total.backward()
