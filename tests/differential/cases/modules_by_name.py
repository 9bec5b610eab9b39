# expected: freed on line 17
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 1)})

    def forward(self, x):
        return {name: head(x) for name, head in self.heads.items()}


outs = Block()(torch.ones(2, 3))
outs["a"].sum().backward()
outs["a"].sum().backward()
