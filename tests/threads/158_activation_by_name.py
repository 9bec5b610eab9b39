# thread: https://github.com/argusswift/YOLOv4-pytorch/issues/247
# diagnosis: The residual is added in place to what an activation chosen by name has returned.
# mistake: 33, 38
# expected: TLN201
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn

ACTIVATIONS = {"relu": nn.ReLU, "leaky": nn.LeakyReLU, "tanh": nn.Tanh}


class ConvUnit(nn.Module):
    def __init__(self, cin, cout, kernel, activate):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(cin, cout, kernel, padding=kernel // 2, bias=False), nn.BatchNorm2d(cout), ACTIVATIONS[activate]()
        )

    def forward(self, x):
        return self.conv(x)


class Block(nn.Module):
    def __init__(self, channels, hidden=None, activate="relu"):
        super().__init__()
        hidden = hidden or channels
        self.block = nn.Sequential(ConvUnit(channels, hidden, 1, activate), ConvUnit(hidden, channels, 3, activate))

    def forward(self, x):
        residual = x
        out = self.block(x)
        out += residual
        return out


backbone = nn.Sequential(ConvUnit(3, 8, 3, "relu"), Block(8), Block(8, 4))
backbone(torch.rand(1, 3, 6, 6)).mean().backward()
