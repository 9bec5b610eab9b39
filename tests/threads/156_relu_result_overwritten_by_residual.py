# thread: https://github.com/iMED-Lab/ER-Net/pull/3
# diagnosis: The residual is added in place to the output of a ReLU, which backward needs.
# mistake: 25, 31
# expected: TLN201
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn


class ResEncoder3d(nn.Module):
    def __init__(self, in_channels, out_channels):
        super(ResEncoder3d, self).__init__()
        self.conv1 = nn.Conv3d(in_channels, out_channels, kernel_size=3, padding=1)
        self.bn1 = nn.BatchNorm3d(out_channels)
        self.conv2 = nn.Conv3d(out_channels, out_channels, kernel_size=3, padding=1)
        self.bn2 = nn.BatchNorm3d(out_channels)
        self.relu = nn.ReLU(inplace=False)
        self.conv1x1 = nn.Conv3d(in_channels, out_channels, kernel_size=1)

    def forward(self, x):
        residual = self.conv1x1(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out += residual
        return self.relu(out)


net = nn.Sequential(ResEncoder3d(1, 4), nn.MaxPool3d(2), ResEncoder3d(4, 4))
loss = net(torch.rand(1, 1, 4, 4, 4)).mean()
loss.backward()
