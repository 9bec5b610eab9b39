# expected: non-scalar on line 6
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x[torch.tensor([True, False, True])]
y.backward()
