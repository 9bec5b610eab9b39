# expected: ok
import torch

h = torch.arange(4.0, requires_grad=True)
a, b = torch.chunk(h, 2)


def outer(w):
    def inner(t):
        return (t * w).sum()

    return inner


s = outer(b)(a)
h.detach().mul_(2)
