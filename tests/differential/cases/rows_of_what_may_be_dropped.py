# Whatever the mode is, they are parts of one tensor.
# expected: multi-view on line 9
import torch

w = torch.ones(3, 2, requires_grad=True)
x = w * 1
layer = torch.nn.Dropout(0.5)
for row in layer(x):
    row.mul_(2)
