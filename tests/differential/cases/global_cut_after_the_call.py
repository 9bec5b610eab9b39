# What a global has become by the end of the script is not what the function saw.
# expected: ok

import torch

w = torch.rand(3, requires_grad=True)


def step():
    (w * 2).sum().backward()


step()
w = w.detach()
