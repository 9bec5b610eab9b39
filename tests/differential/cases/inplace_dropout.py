# In training `F.dropout(x, inplace=True)` writes, in evaluation it does nothing.
# expected: leaf on line 9

import torch
import torch.nn.functional as F

w = torch.rand(3, requires_grad=True)
F.dropout(w, 0.5, training=False, inplace=True)
F.dropout(w, 0.5, inplace=True)
