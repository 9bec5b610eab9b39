# thread: https://github.com/Genentech/gReLU/issues/188
# diagnosis: The constructor of a Module never calls the one of its base.
# mistake: 13, 14
# expected: TLN308
# symptom: raises AttributeError: cannot assign module before Module.__init__() call

import torch
from torch import nn


class UnitTrunk(nn.Module):
    def __init__(self, in_len, channels, kernel_size, pool=7):
        self.channels = channels
        self.blocks = nn.ModuleList()
        for _ in range(channels):
            self.blocks.append(
                nn.Sequential(nn.Conv1d(4, 1, kernel_size), nn.MaxPool1d(pool), nn.Flatten(), nn.LazyLinear(1))
            )

    def forward(self, x):
        return torch.cat([block(x) for block in self.blocks], dim=-1)


trunk = UnitTrunk(in_len=60, channels=3, kernel_size=9)
print(trunk(torch.randn(2, 4, 60)).shape)
