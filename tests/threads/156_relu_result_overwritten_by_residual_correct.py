# correct: 156_relu_result_overwritten_by_residual.py
# cure: The sum is a new tensor.

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
        out = out + residual
        return self.relu(out)


net = nn.Sequential(ResEncoder3d(1, 4), nn.MaxPool3d(2), ResEncoder3d(4, 4))
loss = net(torch.rand(1, 1, 4, 4, 4)).mean()
loss.backward()
