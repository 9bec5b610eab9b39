# expected: ok
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
mask = torch.tensor([True, False, True])
mask[0] = False
x[mask].backward()
