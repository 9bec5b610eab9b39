# correct: 103_flag_without_gradient.py
# cure: The flag gets None.

import torch
import torch.nn as nn


class StochasticSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, is_training=True):
        if not is_training:
            return value.sign()
        up = (1 - value) / 2 <= torch.rand_like(value)
        return up.float() * 2 - 1

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


class Binarizer(nn.Module):
    def __init__(self, channels, bits):
        super().__init__()
        self.conv = nn.Conv2d(channels, bits, kernel_size=1, bias=False)

    def forward(self, feats):
        return StochasticSign.apply(torch.tanh(self.conv(feats)), self.training)


codes = Binarizer(6, 4)(torch.randn(1, 6, 3, 3))
codes.sum().backward()
