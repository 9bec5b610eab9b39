# expected: ok
import torch

w = torch.rand(3, 1, requires_grad=True)
torch.optim.Adam([w.positive()])
