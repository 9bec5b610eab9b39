# thread: https://github.com/osmr/imgclsmob/issues/13
# diagnosis: An in-place activation at the head of the body overwrites the block's input, which the shortcut's convolution has saved.
# mistake: 21, 35, 39
# expected: TLN201, TLN216
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn


class PreactivatedConv(nn.Module):
    def __init__(self, channels, activate):
        super().__init__()
        self.activate = activate
        if activate:
            self.activ = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)

    def forward(self, x):
        if self.activate:
            x = self.activ(x)
        return self.conv(x)


class Unit(nn.Module):
    def __init__(self, channels, reps, start_with_relu=True):
        super().__init__()
        self.identity_conv = nn.Conv2d(channels, channels, 1)
        self.body = nn.Sequential()
        for i in range(reps):
            self.body.add_module(f"block{i + 1}", PreactivatedConv(channels, start_with_relu or i > 0))

    def forward(self, x):
        identity = self.identity_conv(x)
        return self.body(x) + identity


stem = nn.Conv2d(3, 6, 3, padding=1)
Unit(6, reps=2)(torch.sigmoid(stem(torch.rand(1, 3, 6, 6)) - 1) - 0.5).sum().backward()
