"""Layers by name: dicts, a dict that makes what it is asked for, and one that somebody changes."""

import functools
from collections import OrderedDict

from torch import nn


class Makers(OrderedDict):
    def __getitem__(self, name):
        kind = super().__getitem__(name)
        kind, options = kind if isinstance(kind, tuple) else (kind, {})
        return kind(**options)


KINDS = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "leaky": (nn.LeakyReLU, {"negative_slope": 0.2})}
MAKERS = Makers(KINDS)
ROOTS = dict(tanh=nn.Tanh, elu=functools.partial(nn.ELU, alpha=0.5))  # noqa: C408
PLAIN = {nn.Identity, nn.Softplus}
CHANGING = {"act": nn.Sigmoid}


def change(kind):
    CHANGING["act"] = kind


def build(name):
    if isinstance(name, str):
        name = name.lower().replace("-", "")
    elif name in PLAIN:
        return name()
    if name in KINDS:
        return MAKERS[name]
    return ROOTS.get(name.__name__.lower())()
