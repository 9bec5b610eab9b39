# expected: saved on line 10, written on line 9
import torch

w = torch.nn.Parameter(torch.randn(3, 4))
w.grad = None
w.sum().backward()
product = w.prod()
optimizer = torch.optim.Adam([w], lr=0.001)
optimizer.step()
product.backward()
