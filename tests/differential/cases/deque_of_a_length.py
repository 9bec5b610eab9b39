# The second sum holds what the first backward has freed.
# expected: freed on line 12

from collections import deque

import torch

w = torch.ones(3, requires_grad=True)
window = deque(maxlen=2)
for k in range(3):
    window.append(w.exp() + k)
    sum(window).sum().backward()
