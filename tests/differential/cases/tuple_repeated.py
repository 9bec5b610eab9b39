# expected: leaf-view on line 6
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
for each in 2 * (x.exp(), x):
    each[0] = 0
