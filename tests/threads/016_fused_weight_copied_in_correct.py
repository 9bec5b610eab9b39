# correct: 016_fused_weight_copied_in.py
# cure: The copy is made under no_grad.

import torch
import torch.nn as nn


def fuse(conv, bn):
    scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    fused = nn.Conv2d(conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding)
    kernel = conv.weight * scale.view(-1, 1, 1, 1)
    with torch.no_grad():
        fused.weight.copy_(kernel)
        fused.bias.copy_(bn.bias - bn.running_mean * scale)
    return fused


stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
fused = fuse(stem[0], stem[1])
print(fused(torch.randn(1, 3, 5, 5)).shape)
