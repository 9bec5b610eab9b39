# Only leaves can be deep-copied.
# expected: deepcopy on line 10

import copy

import torch

w = torch.rand(3, requires_grad=True)
copy.deepcopy(w)
copy.deepcopy(w * 1)
