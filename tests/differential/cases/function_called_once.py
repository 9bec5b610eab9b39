# What the script has freed by a function is no fault of the function.
# expected: ok

import torch

w = torch.rand(3, requires_grad=True)
values = [w.exp() * 2, w.sin() * 3]


def step():
    for value in values:
        value.sum().backward()


step()
values = [value.detach() for value in values]
