# The check for several views comes before the one for leaves.
# expected: multi-view on line 7

import torch

w = torch.randn(3, requires_grad=True)
w.chunk(2)[0].mul_(2)
