# A second backward adds to `.grad` in place, and `*` has saved that.
# expected: saved on line 10, written on line 9

import torch

w = torch.tensor(2.0, requires_grad=True)
(w * w).backward()
loss = w * w.grad
(w * w).backward()
loss.backward()
