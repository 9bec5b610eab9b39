r"""Noise predictor :math:`\epsilon_\theta(x_t, t, c)` for trajectory diffusion."""

import math
import torch
from torch import nn
import torch.nn.functional as F


def exists(v):
    return v is not None


def default(v, d):
    return v if exists(v) else (d() if callable(d) else d)


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim, theta=10000):
        super().__init__()
        self.dim = dim
        self.theta = theta

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half, device=t.device) * -(math.log(self.theta) / (half - 1)))
        args = t[:, None].float() * freqs[None, :]
        return torch.cat((args.sin(), args.cos()), dim=-1)


class Residual1D(nn.Module):
    def __init__(self, dim, dim_out, *, time_dim, groups=4):
        super().__init__()
        self.conv1 = nn.Conv1d(dim, dim_out, 5, padding=2)
        self.conv2 = nn.Conv1d(dim_out, dim_out, 5, padding=2)
        self.norm1 = nn.GroupNorm(groups, dim_out)
        self.norm2 = nn.GroupNorm(groups, dim_out)
        self.film = nn.Sequential(nn.Mish(), nn.Linear(time_dim, dim_out * 2))
        self.skip = nn.Conv1d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, emb):
        scale, shift = self.film(emb)[..., None].chunk(2, dim=1)
        h = F.mish(self.norm1(self.conv1(x)))
        h = h * (scale + 1) + shift
        h = F.mish(self.norm2(self.conv2(h)))
        return h + self.skip(x)


class TemporalUnet(nn.Module):
    def __init__(self, transition_dim, dim=32, dim_mults=(1, 2), cond_dim=None, cond_drop_prob=0.1):
        super().__init__()
        self.cond_drop_prob = cond_drop_prob
        time_dim = dim * 4
        self.time_mlp = nn.Sequential(
            SinusoidalPosEmb(dim), nn.Linear(dim, time_dim), nn.Mish(), nn.Linear(time_dim, time_dim)
        )
        self.has_cond = exists(cond_dim)
        if self.has_cond:
            self.cond_mlp = nn.Sequential(nn.Linear(cond_dim, time_dim), nn.Mish(), nn.Linear(time_dim, time_dim))
            self.null_cond = nn.Parameter(torch.randn(time_dim) * 0.02)

        dims = [transition_dim, *map(lambda m: dim * m, dim_mults)]
        in_out = list(zip(dims[:-1], dims[1:]))
        self.downs = nn.ModuleList([])
        self.ups = nn.ModuleList([])
        for ind, (d_in, d_out) in enumerate(in_out):
            last = ind == len(in_out) - 1
            self.downs.append(nn.ModuleList([
                Residual1D(d_in, d_out, time_dim=time_dim),
                nn.Identity() if last else nn.Conv1d(d_out, d_out, 3, 2, 1),
            ]))
        self.mid = Residual1D(dims[-1], dims[-1], time_dim=time_dim)
        for d_in, d_out in reversed(in_out[1:]):
            self.ups.append(nn.ModuleList([
                Residual1D(d_out * 2, d_in, time_dim=time_dim),
                nn.ConvTranspose1d(d_in, d_in, 4, 2, 1),
            ]))
        self.final = nn.Conv1d(dim, transition_dim, 1)

    @torch.no_grad()
    def embed_time(self, t, batch):
        if not torch.is_tensor(t):
            t = torch.tensor([t], dtype=torch.long)
        t = t.expand(batch) if t.numel() == 1 else t
        return self.time_mlp(t)

    def embed_cond(self, cond, drop_prob):
        emb = self.cond_mlp(cond)
        keep = torch.rand(cond.shape[0], 1, device=cond.device) >= drop_prob
        return torch.where(keep, emb, self.null_cond)

    def forward(self, x, time, cond=None, cond_drop_prob=None):
        """x: [batch, horizon, transition]"""
        x = x.transpose(1, 2)
        emb = self.embed_time(time, x.shape[0])
        if self.has_cond and exists(cond):
            emb = emb + self.embed_cond(cond, default(cond_drop_prob, self.cond_drop_prob))

        hs = []
        for res, down in self.downs:
            x = res(x, emb)
            hs.append(x)
            x = down(x)
        x = self.mid(x, emb)
        for res, up in self.ups:
            x = up(res(torch.cat((x, hs.pop()), dim=1), emb))
        return self.final(x).transpose(1, 2)
