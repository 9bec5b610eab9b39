# expected: leaf on line 5
import torch

y = torch.randn(1, 3, requires_grad=True)
y.__iadd__(1)
