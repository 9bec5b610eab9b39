# In training `F.dropout(x, inplace=True)` writes, in evaluation it does nothing.
# expected: leaf on line 9

import torch
from torch import nn

w = torch.rand(3, requires_grad=True)
nn.functional.dropout(w, 0.5, training=False, inplace=True)
nn.functional.dropout(w, 0.5, inplace=True)
