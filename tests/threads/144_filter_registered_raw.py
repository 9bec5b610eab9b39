# thread: https://github.com/cfzd/FcaNet/issues/29
# diagnosis: register_parameter is given a plain tensor.
# mistake: 18
# expected: TLN307
# symptom: raises TypeError: cannot assign 'torch.FloatTensor' object to parameter 'weight'

import math

import torch
import torch.nn as nn


class FrequencyLayer(nn.Module):
    def __init__(self, height, width, channel, learnable):
        super().__init__()
        basis = self.get_filter(height, width, channel)
        if learnable:
            self.register_parameter("weight", basis)
        else:
            self.register_buffer("weight", basis)

    def get_filter(self, height, width, channel):
        rows = torch.cos(math.pi * (torch.arange(height) + 0.5) / height)
        return rows.view(1, -1, 1).repeat(channel, 1, width)

    def forward(self, x):
        return torch.sum(x * self.weight, dim=[2, 3])


print(FrequencyLayer(4, 4, 3, learnable=True)(torch.rand(2, 3, 4, 4)).shape)
