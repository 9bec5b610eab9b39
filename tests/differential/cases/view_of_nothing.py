# expected: no-grad-view on line 7
import torch

x = torch.rand(3, 1, requires_grad=True)[:, 1:]
with torch.no_grad():
    y = x.flatten()
y -= y
