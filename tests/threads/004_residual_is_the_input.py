# thread: https://github.com/Jee-King/TSAN/issues/3
# diagnosis: The name of the skip connection is the input itself, so adding to it in place overwrites what the convolution saved.
# mistake: 22, 29
# expected: TLN201
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn


class Refine(nn.Module):
    def __init__(self, channels, depth):
        super(Refine, self).__init__()
        self.body = nn.ModuleList([nn.Conv2d(channels, channels, 3, padding=1) for _ in range(depth)])
        self.act = nn.PReLU()

    def forward(self, feats):
        feats = self.act(feats)
        skip = feats
        for conv in self.body:
            feats = self.act(conv(feats))
        skip += feats
        return skip


model = Refine(channels=4, depth=3)
frames = torch.randn(2, 4, 8, 8)
loss = nn.L1Loss()(model(frames), torch.zeros_like(frames))
loss.backward()
