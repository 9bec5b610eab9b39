# expected: multi-view on line 6
import torch

x = torch.randn(1, 3, requires_grad=True)
(row,) = x
torch.nn.functional.dropout(row, 0.5, True, True)
