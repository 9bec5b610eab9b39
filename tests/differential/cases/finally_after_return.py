# `return` runs the `finally` block before it leaves: what was saved is written.
# expected: saved on line 16, written on line 12

import torch


def early(t):
    t = t.exp()
    try:
        return t * 2
    finally:
        t.add_(1)


w = torch.rand(3, requires_grad=True)
early(w).sum().backward()
