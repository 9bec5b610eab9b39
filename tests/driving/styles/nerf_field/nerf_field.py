"""Radiance field + volume rendering, configured by a plain dict (as read from YAML)."""
import math
from typing import Any, Dict, List, Optional

import torch
import torch.nn as nn

CONFIG: Dict[str, Any] = {
    "encoding": {"xyz_freqs": 4, "dir_freqs": 2},
    "trunk": {"width": 32, "depth": 4, "skips": [2], "act": "relu"},
    "density": {"acts": ["sigmoid", "threshold"], "gain": 10.0},
    "render": {"samples": 16, "near": 0.5, "far": 3.0, "white_bg": True},
}


def make_act(name: str) -> nn.Module:
    name = name.lower()
    if name == "relu":
        return nn.ReLU(inplace=True)
    if name == "softplus":
        return nn.Softplus(beta=10)
    if name == "sigmoid":
        return nn.Sigmoid()
    if name == "threshold":
        # prunes fog: tiny densities become empty space
        return nn.Threshold(0.05, 0.0, inplace=True)
    raise NotImplementedError(name)


class FourierEncoding(nn.Module):
    def __init__(self, n_freqs: int, include_input: bool = True):
        super().__init__()
        self.include_input = include_input
        self.register_buffer("bands", math.pi * 2.0 ** torch.arange(n_freqs), persistent=False)

    def out_dim(self, d: int) -> int:
        return d * (2 * len(self.bands) + int(self.include_input))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        xb = (x[..., None] * self.bands).flatten(-2)
        parts = [xb.sin(), xb.cos()]
        if self.include_input:
            parts.insert(0, x)
        return torch.cat(parts, dim=-1)


class SkipMLP(nn.Module):
    def __init__(self, d_in: int, width: int, depth: int, skips: List[int], act: str):
        super().__init__()
        self.skips = set(skips)
        self.layers = nn.ModuleList()
        for i in range(depth):
            fan_in = d_in if i == 0 else width + (d_in if i in self.skips else 0)
            self.layers.append(nn.Sequential(nn.Linear(fan_in, width), make_act(act)))

    def forward(self, x):
        h = x
        for i, layer in enumerate(self.layers):
            if i in self.skips:
                h = torch.cat([h, x], dim=-1)
            h = layer(h)
        return h


class RadianceField(nn.Module):
    def __init__(self, config: Optional[Dict[str, Any]] = None):
        super().__init__()
        cfg = {k: {**v, **(config or {}).get(k, {})} for k, v in CONFIG.items()}
        self.render_cfg = cfg["render"]
        self.gain = cfg["density"]["gain"]
        self.enc_x = FourierEncoding(cfg["encoding"]["xyz_freqs"])
        self.enc_d = FourierEncoding(cfg["encoding"]["dir_freqs"])
        width = cfg["trunk"]["width"]
        self.trunk = SkipMLP(self.enc_x.out_dim(3), **cfg["trunk"])
        self.density = nn.Sequential(nn.Linear(width, 1), *[make_act(a) for a in cfg["density"]["acts"]])
        self.color = nn.Sequential(
            nn.Linear(width + self.enc_d.out_dim(3), width // 2), nn.ReLU(inplace=True),
            nn.Linear(width // 2, 3), nn.Sigmoid(),
        )

    def query(self, xyz: torch.Tensor, dirs: torch.Tensor):
        h = self.trunk(self.enc_x(xyz))
        sigma = self.density(h).squeeze(-1) * self.gain
        rgb = self.color(torch.cat([h, self.enc_d(dirs)], dim=-1))
        return sigma, rgb

    def forward(self, origins: torch.Tensor, dirs: torch.Tensor) -> Dict[str, torch.Tensor]:
        """origins, dirs: (R, 3)"""
        r = self.render_cfg
        t = torch.linspace(r["near"], r["far"], r["samples"], device=origins.device)
        xyz = origins[:, None] + dirs[:, None] * t[None, :, None]               # (R, S, 3)
        sigma, rgb = self.query(xyz, dirs[:, None].expand_as(xyz))
        delta = (r["far"] - r["near"]) / r["samples"]
        tau = sigma * delta
        trans = torch.exp(-(torch.cumsum(tau, dim=-1) - tau))
        weights = trans * (1 - torch.exp(-tau))                                  # (R, S)
        out = (weights[..., None] * rgb).sum(-2)
        acc = weights.sum(-1)
        if r["white_bg"]:
            out = out + (1 - acc)[..., None]
        return {"rgb": out, "depth": (weights * t).sum(-1), "acc": acc}
