# correct: 001_two_decoders_one_latent.py
# cure: The sum is a new tensor.

import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, width, length, out):
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, length, width))
        self.project = nn.Linear(width, out)

    def forward(self, latent):
        latent = latent + self.positions
        return self.project(latent)


def train_step(encoder, coarse, fine, signal):
    latent = encoder(signal)
    loss = coarse(latent).pow(2).mean() + fine(latent).abs().mean()
    loss.backward()
    return loss.item()


encoder = nn.Linear(6, 8)
coarse, fine = Head(8, 5, 2), Head(8, 5, 4)
print(train_step(encoder, coarse, fine, torch.randn(3, 5, 6)))
