# thread: https://github.com/jiwei0921/CoNet/issues/3
# diagnosis: The predicted depth has a channel dimension and the target has none, so batch and channel broadcast.
# mistake: 24, 25
# expected: TLN606
# symptom: warns Using a target size

import torch
import torch.nn as nn
import torch.nn.functional as F


class DepthHead(nn.Module):
    def __init__(self, cin):
        super().__init__()
        self.high = nn.Conv2d(cin, 1, 3, padding=1)
        self.low = nn.Conv2d(cin, 1, 1)

    def forward(self, x):
        return self.high(x), self.low(x)


def depth_loss(head, features, depth):
    high, low = head(features)
    coarse = F.smooth_l1_loss(high, depth, reduction="sum")
    fine = F.smooth_l1_loss(low, depth, reduction="sum")
    return coarse + fine


head = DepthHead(4)
loss = depth_loss(head, torch.randn(2, 4, 16, 16), torch.rand(2, 16, 16))
loss.backward()
