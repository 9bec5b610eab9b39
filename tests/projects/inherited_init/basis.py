import functools

import torch
from torch import nn

identity = torch.clone


def layer_of(features):
    return nn.Linear(features, features)


class Basis(nn.Module):
    def __init__(self, features=3, make=layer_of):
        super().__init__()
        self.linear = make(features)
        self.act = functools.partial(nn.Linear, features)(features)
        self.apply(self.reset)

    def reset(self, module):
        unknown = getattr(module, "weight", None)
        if unknown is not None:
            nn.init.zeros_(unknown)
