# A cast that has nothing to do does not ask a view for its grad_fn; what uses the view does.
# expected: multi-view on line 11

import torch

y = torch.rand(2, 3, requires_grad=True)
(c,) = torch.split(y, 2)
with torch.no_grad():
    c.relu_()
h = c.float()
b = h.exp()
