# thread: https://github.com/1zb/pytorch-image-comp-rnn/issues/4
# diagnosis: forward takes a flag beside the tensor, and backward returns one value.
# mistake: 21
# expected: TLN503
# symptom: raises RuntimeError: returned an incorrect number of gradients

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
        return grad_output


class Binarizer(nn.Module):
    def __init__(self, channels, bits):
        super().__init__()
        self.conv = nn.Conv2d(channels, bits, kernel_size=1, bias=False)

    def forward(self, feats):
        return StochasticSign.apply(torch.tanh(self.conv(feats)), self.training)


codes = Binarizer(6, 4)(torch.randn(1, 6, 3, 3))
codes.sum().backward()
