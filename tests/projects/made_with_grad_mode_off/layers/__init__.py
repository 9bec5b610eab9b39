import torch

from layers.adapters import Adapter

KINDS = {"adapter": Adapter}


@torch.no_grad()
def make(kind, weight):
    return KINDS[kind].from_weights(weight)


def make_scaled(kind, scale):
    with torch.no_grad():
        KINDS[kind].from_scale(scale)
    return KINDS[kind].from_scale(scale)
