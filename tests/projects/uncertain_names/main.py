import torch
from settings import REGISTRY, activation, choose, saving, use_plain

use_plain()
x = torch.ones(2, requires_grad=True)
first = activation(x)
first.mul_(2)
second = REGISTRY["act"](x)
second.mul_(2)
third = choose(x)
third.mul_(2)
fourth = saving(x)
fourth.mul_(2)
(first + second + third + fourth).sum().backward()
