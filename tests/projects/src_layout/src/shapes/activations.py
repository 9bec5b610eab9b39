import torch


def squash(x):
    from .bounded import bounded

    return bounded(torch.tanh(x))
