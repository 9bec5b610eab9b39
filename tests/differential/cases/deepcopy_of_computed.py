# Only leaves can be deep-copied.
# expected: deepcopy on line 9

import torch
import copy

w = torch.rand(3, requires_grad=True)
copy.deepcopy(w)
copy.deepcopy(w * 1)
