# thread: https://github.com/Hiyuur/SR-TOD/issues/5
# diagnosis: The learned threshold enters only through torch.sign, whose gradient is zero everywhere.
# mistake: 19, 25
# expected: TLN116
# symptom: prints gradient of the threshold: 0.0

import torch
import torch.nn as nn


class DifferenceMask(nn.Module):
    def __init__(self, channels, start=0.016):
        super().__init__()
        self.learnable_thresh = nn.Parameter(torch.tensor(start))
        self.enhance = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, image, reconstruction, feats):
        difference = (reconstruction - image).abs().mean(dim=1, keepdim=True)
        mask = (torch.sign(difference - self.learnable_thresh) + 1) * 0.5
        return self.enhance(feats) * mask + feats


module = DifferenceMask(4)
out = module(torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8), torch.rand(1, 4, 8, 8))
out.mean().backward()
print("gradient of the threshold:", module.learnable_thresh.grad.item())
