# What is computed of an expanded tensor is not expanded: `reshape` gives a view.
# expected: multi-view on line 8

import torch

w = torch.rand(1, requires_grad=True).expm1().expand(2, 3)
loss = torch.nn.functional.mse_loss(w, torch.zeros(2, 3), reduction="none").reshape(-1)
loss.unbind()[0].zero_()
