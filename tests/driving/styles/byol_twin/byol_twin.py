from __future__ import annotations

import copy
import math
from typing import Callable, Mapping

import torch
import torch.nn as nn
import torch.nn.functional as F


def off_graph(module: nn.Module) -> nn.Module:
    for p in module.parameters():
        p.requires_grad_(False)
    return module


class Normalize(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.normalize(x, dim=-1)


def head(d_in: int, d_hidden: int, d_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(d_in, d_hidden, bias=False),
        nn.BatchNorm1d(d_hidden),
        nn.ReLU(inplace=True),
        nn.Linear(d_hidden, d_out),
    )


class MomentumSchedule:
    """Cosine ramp from ``base`` to 1."""

    def __init__(self, base: float, steps: int):
        self.base, self.steps, self.k = base, steps, 0

    def __call__(self) -> float:
        self.k = min(self.k + 1, self.steps)
        return 1 - (1 - self.base) * (math.cos(math.pi * self.k / self.steps) + 1) / 2


class BYOL(nn.Module):
    """Bootstrap your own latent.

    Parameters
    ----------
    backbone
        Any module mapping a batch to ``(B, feature_dim)``.  It is copied for the target.
    augment
        Callable applied independently for each of the two views when the input is one tensor.
    """

    def __init__(
        self,
        backbone: nn.Module,
        feature_dim: int,
        proj_dim: int = 32,
        hidden_dim: int = 64,
        augment: Callable[[torch.Tensor], torch.Tensor] | None = None,
        momentum: float = 0.99,
        total_steps: int = 10_000,
    ) -> None:
        super().__init__()
        self.augment = augment or (lambda x: x + 0.1 * torch.randn_like(x))
        self.online = nn.Sequential(backbone, head(feature_dim, hidden_dim, proj_dim))
        self.predictor = nn.Sequential(head(proj_dim, hidden_dim, proj_dim), Normalize())
        self.target = off_graph(copy.deepcopy(self.online))
        self.schedule = MomentumSchedule(momentum, total_steps)

    @torch.no_grad()
    def update_target(self) -> None:
        m = self.schedule()
        for po, pt in zip(self.online.parameters(), self.target.parameters()):
            pt.lerp_(po, 1 - m)
        for bo, bt in zip(self.online.buffers(), self.target.buffers()):
            bt.copy_(bo)

    @torch.inference_mode()
    def targets(self, *views: torch.Tensor) -> list[torch.Tensor]:
        return [F.normalize(self.target(v), dim=-1) for v in views]

    def views_of(self, batch) -> tuple[torch.Tensor, torch.Tensor]:
        if isinstance(batch, Mapping):
            return batch["view1"], batch["view2"]
        if isinstance(batch, (tuple, list)):
            v1, v2 = batch
            return v1, v2
        return self.augment(batch), self.augment(batch)

    @staticmethod
    def regression_loss(p: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return 2 - 2 * (p * z).sum(-1)

    def forward(self, batch) -> torch.Tensor:
        v1, v2 = self.views_of(batch)
        p1, p2 = self.predictor(self.online(v1)), self.predictor(self.online(v2))
        z1, z2 = self.targets(v1, v2)
        return (self.regression_loss(p1, z2) + self.regression_loss(p2, z1)).mean()
