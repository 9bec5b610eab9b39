# expected: leaf on line 5
import torch

x = torch.ones(3, requires_grad=True)
x[()] = 0.5
