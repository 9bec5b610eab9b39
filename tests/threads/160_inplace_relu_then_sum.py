# thread: https://github.com/pytorch/pytorch/issues/5687
# diagnosis: The left branch ends in an in-place ReLU, and the shortcut is added to its result in place.
# mistake: 25, 40
# expected: TLN201
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualBlock(nn.Module):
    def __init__(self, ch_in, ch_out, shortcut=None):
        super(ResidualBlock, self).__init__()
        self.left = nn.Sequential(
            nn.Conv2d(ch_in, 8, 3, 1, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(8, ch_out, 3, 1, 1),
            nn.ReLU(inplace=True),
        )
        self.right = shortcut

    def forward(self, x):
        out = self.left(x)
        out += x if self.right is None else self.right(x)
        return F.relu(out, inplace=False)


class Compressor(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), *(ResidualBlock(8, 8) for _ in range(blocks)))
        self.decode = nn.ConvTranspose2d(8, 3, 4, 2, 1)

    def forward(self, image):
        return self.decode(self.encode(image))


image = torch.rand(1, 3, 8, 8)
nn.MSELoss()(Compressor(2)(image), image).backward()
