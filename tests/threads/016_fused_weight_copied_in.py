# thread: https://github.com/PingoLH/FCHarDNet/issues/61
# diagnosis: The fused weight is written into the new convolution's parameter, which requires grad.
# mistake: 15
# expected: TLN203
# symptom: raises RuntimeError: a leaf Variable that requires grad is being used in an in-place operation

import torch
import torch.nn as nn


def fuse(conv, bn):
    scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    fused = nn.Conv2d(conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding)
    kernel = conv.weight * scale.view(-1, 1, 1, 1)
    fused.weight[:, :, :, :] = kernel[:, :, :, :]
    fused.bias.data = bn.bias.data - bn.running_mean * scale.data
    return fused


stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
fused = fuse(stem[0], stem[1])
print(fused(torch.randn(1, 3, 5, 5)).shape)
