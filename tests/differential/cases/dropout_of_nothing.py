# expected: multi-view on line 6
import torch

x = torch.ones(0, requires_grad=True)
y = torch.nn.functional.dropout(x.split(1)[0])
y.relu_()
