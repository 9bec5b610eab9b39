# Several views of a tensor nobody differentiates may be written.
# expected: ok

import torch

x = torch.randn(4)
a, b = x.split(2)
a.mul_(2)
x.add_(1)
b.exp_()
