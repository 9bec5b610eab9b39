# thread: https://github.com/zylo117/Yet-Another-EfficientDet-Pytorch/issues/503
# diagnosis: An in-place ReLU gets the parameter itself.
# mistake: 20
# expected: TLN203
# symptom: raises RuntimeError: a leaf Variable that requires grad is being used in an in-place operation

import torch
import torch.nn as nn


class FuseTwo(nn.Module):
    def __init__(self, channels, eps=1e-4):
        super(FuseTwo, self).__init__()
        self.eps = eps
        self.ratio = nn.Parameter(torch.ones(2, dtype=torch.float32))
        self.positive = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(channels, channels, 1)

    def forward(self, low, high):
        ratio = self.positive(self.ratio)
        ratio = ratio / (ratio.sum(dim=0) + self.eps)
        return self.conv(ratio[0] * low + ratio[1] * high)


fuse = FuseTwo(channels=4)
out = fuse(torch.randn(1, 4, 6, 6), torch.randn(1, 4, 6, 6))
out.mean().backward()
