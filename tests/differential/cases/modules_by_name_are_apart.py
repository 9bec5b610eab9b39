# expected: ok
import torch
from torch import nn

heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 1)})
heads["a"](torch.ones(2, 3)).sum().backward()
x = torch.ones(2, 3)
outs = {}
for name in heads:
    outs[name] = heads[name](x)
outs["a"].sum().backward()
outs["b"].sum().backward()
