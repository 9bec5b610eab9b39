# thread: https://github.com/pytorch/vision/issues/807
# diagnosis: The sum of a residual block comes after the activation, in place.
# mistake: 29, 34
# expected: TLN201
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn


def conv3x3(planes, stride=1):
    return nn.Conv2d(planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    def __init__(self, planes, downsample=None, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        self.conv1, self.bn1 = conv3x3(planes), norm_layer(planes)
        self.conv2, self.bn2 = conv3x3(planes), norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = self.relu(out)
        out += identity
        return out


layer = nn.Sequential(*(BasicBlock(6) for _ in range(2)))
layer(torch.rand(2, 6, 5, 5)).sum().backward()
