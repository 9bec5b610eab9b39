"""Latent ODE for irregular series: GRU recogniser, RK4 decoder."""
from typing import Callable, Optional

import torch
import torch.nn as nn

Dynamics = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class TimeMLP(nn.Module):
    def __init__(self, dim: int, hidden: int, activation: Callable = torch.tanh):
        super().__init__()
        self.l1 = nn.Linear(dim + 1, hidden)
        self.l2 = nn.Linear(hidden, dim)
        self.activation = activation
        self.nfe = 0

    def forward(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.nfe += 1
        tt = t.expand(y.shape[0], 1)
        return self.l2(self.activation(self.l1(torch.cat([tt, y], dim=1))))


class Damped(nn.Module):
    """Adds a learnable linear decay to any dynamics."""

    def __init__(self, inner: nn.Module, dim: int):
        super().__init__()
        self.inner = inner
        self.log_rate = nn.Parameter(torch.full((dim,), -2.0))

    def forward(self, t, y):
        return self.inner(t, y) - y * self.log_rate.exp()


def rk4_increment(f: Dynamics, t: torch.Tensor, dt: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return (k1 + 2 * k2 + 2 * k3 + k4) / 6


def integrate(f: Dynamics, y0: torch.Tensor, ts: torch.Tensor, substeps: int = 1) -> torch.Tensor:
    """Fixed-grid RK4, returns states at every ``ts`` as (len(ts), B, D)."""
    assert ts.dim() == 1 and ts.numel() >= 2
    y = y0.clone()
    path = [y0]
    for t0, t1 in zip(ts[:-1], ts[1:]):
        dt = (t1 - t0) / substeps
        for s in range(substeps):
            incr = rk4_increment(f, t0 + s * dt, dt, y)
            y.add_(dt * incr)
        path.append(y.clone())
    return torch.stack(path)


class LatentODE(nn.Module):
    def __init__(
        self,
        obs_dim: int,
        latent_dim: int = 8,
        hidden: int = 32,
        dynamics: Optional[nn.Module] = None,
        substeps: int = 2,
    ):
        super().__init__()
        self.substeps = substeps
        self.rec = nn.GRU(obs_dim + 1, hidden, batch_first=True)
        self.to_z = nn.Linear(hidden, 2 * latent_dim)
        if dynamics is None:
            dynamics = Damped(TimeMLP(latent_dim, hidden), latent_dim)
        self.dynamics = dynamics
        self.emit = nn.Linear(latent_dim, obs_dim)

    def recognise(self, x: torch.Tensor, ts: torch.Tensor):
        gaps = torch.diff(ts, prepend=ts[:1]).expand(x.shape[0], -1)
        inp = torch.cat([x, gaps.unsqueeze(-1)], dim=-1).flip(1)
        _, h = self.rec(inp)
        return self.to_z(h[-1]).chunk(2, dim=-1)

    def forward(self, x: torch.Tensor, ts: torch.Tensor, query_ts: Optional[torch.Tensor] = None):
        mean, logvar = self.recognise(x, ts)
        z0 = mean + (0.5 * logvar).exp() * torch.randn_like(mean)
        zs = integrate(self.dynamics, z0, ts if query_ts is None else query_ts, self.substeps)
        pred = self.emit(zs).transpose(0, 1)                      # (B, T, obs)
        kl = 0.5 * (mean ** 2 + logvar.exp() - 1 - logvar).sum(-1)
        return pred, kl
