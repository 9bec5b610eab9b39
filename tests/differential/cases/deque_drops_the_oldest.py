# expected: ok

from collections import deque

import torch

w = torch.ones(3, requires_grad=True)
window = deque(maxlen=1)
for k in range(3):
    window.append(w.exp() + k)
    sum(window).sum().backward()
