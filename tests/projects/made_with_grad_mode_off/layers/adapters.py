import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    @classmethod
    def from_weights(cls, weight):
        """Called by another file alone, and under `no_grad`."""
        adapter = cls(weight.shape[0])
        adapter.weight.copy_(weight)
        return adapter

    @classmethod
    def from_scale(cls, scale):
        """Called by another file under `no_grad`, and with grad mode on."""
        adapter = cls(scale.shape[0])
        adapter.weight.copy_(scale)  # warning: [TLN203]
        return adapter
