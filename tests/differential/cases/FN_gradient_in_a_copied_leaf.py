# expected: deepcopy on line 9
# said: ok: `deepcopy` of a leaf also copies its `.grad`, which is not looked at
import copy

import torch

x = torch.ones(3, requires_grad=True)
(x**2).sum().backward(create_graph=True)
copy.deepcopy(x)
