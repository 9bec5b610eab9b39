# thread: https://github.com/thuanz123/enhancing-transformers/issues/11
# diagnosis: A decoder adds its positions to its argument in place, so the second decoder overwrites what the first one's layer saved.
# mistake: 18
# expected: TLN201, TLN204, TLN213
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, width, length, out):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, length, width))
        self.project = nn.Linear(width, out)

    def forward(self, latent):
        latent += self.positions
        return self.project(latent)


def train_step(encoder, coarse, fine, signal):
    latent = encoder(signal)
    loss = coarse(latent).pow(2).mean() + fine(latent).abs().mean()
    loss.backward()
    return loss.item()


encoder = nn.Linear(6, 8)
coarse, fine = Head(8, 5, 2), Head(8, 5, 4)
print(train_step(encoder, coarse, fine, torch.randn(3, 5, 6)))
