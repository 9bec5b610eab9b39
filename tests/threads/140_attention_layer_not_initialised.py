# thread: https://github.com/sinAshish/Multi-Scale-Attention/issues/14
# diagnosis: An attention block sets its layers without calling the constructor of its base, and fails where a larger model builds it.
# mistake: 13
# expected: TLN308
# symptom: raises AttributeError: cannot assign module before Module.__init__() call

import torch
import torch.nn as nn


class ChannelAttention(nn.Module):
    def __init__(self, in_ch, use_pam=True):
        self.attn = nn.Conv2d(in_ch, in_ch, 1) if use_pam else nn.Identity()
        self.after = nn.Sequential(nn.Conv2d(in_ch, in_ch, 3, padding=1), nn.BatchNorm2d(in_ch), nn.PReLU())

    def forward(self, x):
        return self.after(x * torch.sigmoid(self.attn(x)))


class Stacked(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.pam = ChannelAttention(ch, True)
        self.cam = ChannelAttention(ch, False)

    def forward(self, x):
        return self.pam(x) + self.cam(x)


print(Stacked(4)(torch.rand(1, 4, 6, 6)).shape)
