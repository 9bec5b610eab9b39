# expected: ok
import torch

w = torch.rand(1, requires_grad=True)
y = w[1:]
torch.nn.functional.dropout(y, 0.5, inplace=True)
