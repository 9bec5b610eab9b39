"""Compact U-Net for dense prediction, block lists driven by a channel spec."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional, Sequence

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class UNetConfig:
    in_channels: int = 3
    out_channels: int = 1
    widths: Sequence[int] = field(default_factory=lambda: (16, 32, 64))
    blocks_per_stage: int = 2
    groups: int = 4
    bottleneck_width: Optional[int] = None


class ConvNormAct(nn.Sequential):
    def __init__(self, cin: int, cout: int, groups: int, stride: int = 1):
        super().__init__(
            nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False),
            nn.GroupNorm(groups, cout),
            nn.ReLU(inplace=True),
        )


class Stage(nn.Module):
    """A run of ConvNormAct blocks at one resolution."""

    def __init__(self, cin: int, cout: int, n: int, groups: int):
        super().__init__()
        blocks: List[nn.Module] = []
        for i in range(n):
            blocks.append(ConvNormAct(cin if i == 0 else cout, cout, groups))
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for blk in self.blocks:
            x = blk(x)
        return x


class Up(nn.Module):
    def __init__(self, cin: int, cskip: int, groups: int):
        super().__init__()
        self.proj = nn.Conv2d(cin, cskip, 1)
        self.fuse = ConvNormAct(cskip, cskip, groups)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        x = F.interpolate(x, size=skip.shape[-2:], mode="nearest")
        x = F.relu(self.proj(x))
        x += skip  # additive skips keep the memory budget flat
        return self.fuse(x)


class UNet(nn.Module):
    def __init__(self, cfg: UNetConfig):
        super().__init__()
        self.cfg = cfg
        widths = list(cfg.widths)
        assert all(w % cfg.groups == 0 for w in widths), "widths must divide into groups"

        self.down = nn.ModuleList()
        cin = cfg.in_channels
        for w in widths:
            self.down.append(Stage(cin, w, cfg.blocks_per_stage, cfg.groups))
            cin = w

        mid = cfg.bottleneck_width or widths[-1]
        self.mid = Stage(widths[-1], mid, 1, cfg.groups)

        self.up = nn.ModuleList()
        cin = mid
        for w in reversed(widths):
            self.up.append(Up(cin, w, cfg.groups))
            cin = w
        self.head = nn.Conv2d(cin, cfg.out_channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape[-2:]
        factor = 2 ** len(self.down)
        assert h % factor == 0 and w % factor == 0, f"input must be divisible by {factor}"

        skips: List[torch.Tensor] = []
        for stage in self.down:
            x = stage(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)

        x = self.mid(x)
        for up in self.up:
            x = up(x, skips.pop())
        return self.head(x)
