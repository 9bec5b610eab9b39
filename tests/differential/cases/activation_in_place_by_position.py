# expected: saved on line 6, written on line 5
import torch

y = torch.randn(3, requires_grad=True).exp()
torch.nn.functional.leaky_relu(y, 0.1, True)
y.sum().backward()
