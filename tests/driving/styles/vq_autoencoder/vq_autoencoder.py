# Copyright (c) the authors.  MIT licence.
"""VQ-VAE for 1-D signals."""
from typing import Dict

import torch
import torch.nn.functional as F
from torch import nn


class ResidualUnit(nn.Module):

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.conv2 = nn.Conv1d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv2(F.elu(self.conv1(F.elu(x))))


class VectorQuantizer(nn.Module):
    """Nearest-neighbour codebook lookup.

    Args:
        num_codes: size of the codebook.
        code_dim: dimension of every code.
        weight: factor of the codebook term.
    """

    def __init__(self, num_codes: int, code_dim: int, weight: float = 1.0) -> None:
        super().__init__()
        self.num_codes = num_codes
        self.weight = weight
        self.codebook = nn.Embedding(num_codes, code_dim)
        nn.init.uniform_(self.codebook.weight, -1.0 / num_codes, 1.0 / num_codes)

    def distances(self, flat: torch.Tensor) -> torch.Tensor:
        w = self.codebook.weight
        return (
            flat.pow(2).sum(1, keepdim=True)
            - 2 * flat @ w.t()
            + w.pow(2).sum(1)
        )

    def forward(self, z: torch.Tensor) -> Dict[str, torch.Tensor]:
        # z: (B, D, T)
        b, d, t = z.shape
        flat = z.permute(0, 2, 1).reshape(-1, d)
        codes = self.distances(flat).argmin(dim=1)
        quantized = self.codebook(codes).view(b, t, d).permute(0, 2, 1)

        codebook_loss = F.mse_loss(quantized, z.detach())

        with torch.no_grad():
            usage = F.one_hot(codes, self.num_codes).float().mean(0)
            perplexity = torch.exp(-(usage * (usage + 1e-10).log()).sum())

        return {
            "quantized": quantized,
            "codes": codes.view(b, t),
            "loss": self.weight * codebook_loss,
            "perplexity": perplexity,
        }


class VQAutoencoder(nn.Module):

    def __init__(self, channels: int = 32, code_dim: int = 16, num_codes: int = 64,
                 depth: int = 2) -> None:
        super().__init__()
        enc = [nn.Conv1d(1, channels, 7, padding=3)]
        for i in range(depth):
            enc += [ResidualUnit(channels, 3 ** i), nn.Conv1d(channels, channels, 4, 2, 1)]
        enc.append(nn.Conv1d(channels, code_dim, 3, padding=1))
        self.encoder = nn.Sequential(*enc)

        self.quantizer = VectorQuantizer(num_codes, code_dim)

        dec = [nn.Conv1d(code_dim, channels, 3, padding=1)]
        for i in reversed(range(depth)):
            dec += [nn.ConvTranspose1d(channels, channels, 4, 2, 1), ResidualUnit(channels, 3 ** i)]
        dec.append(nn.Conv1d(channels, 1, 7, padding=3))
        self.decoder = nn.Sequential(*dec)

    def forward(self, wav: torch.Tensor) -> Dict[str, torch.Tensor]:
        z = self.encoder(wav)
        q = self.quantizer(z)
        recon = self.decoder(q["quantized"])
        return {"recon": recon, "vq_loss": q["loss"], "codes": q["codes"]}
