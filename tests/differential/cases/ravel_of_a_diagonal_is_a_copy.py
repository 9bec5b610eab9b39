# expected: ok
import torch

x = torch.full((4, 4), 0.5, requires_grad=True)
row = x.diagonal().ravel()
row[...] = 1
