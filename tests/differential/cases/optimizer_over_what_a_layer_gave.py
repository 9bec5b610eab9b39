# expected: optimizer on line 6
import torch

cell = torch.nn.GRU(3, 3)
out, hidden = cell(torch.ones(2, 1, 3))
torch.optim.SGD([out], lr=0.1)
