# The `finally` block runs once.
# expected: ok

import torch


def early(t):
    loss = t.exp().sum()
    try:
        return loss * 2
    finally:
        loss.backward()


w = torch.rand(3, requires_grad=True)
early(w)
