# expected: freed on line 7
import torch

x = torch.randn(4, requires_grad=True).max()
x.backward(inputs=[x])
x.grad.zero_()
x.backward()
