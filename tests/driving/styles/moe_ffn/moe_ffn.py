from __future__ import annotations

from typing import Literal

import torch
from torch import nn, Tensor
from torch.nn import functional as F


class Expert(nn.Module):
    def __init__(self, d: int, h: int, act: Literal["relu", "gelu", "silu"] = "gelu"):
        super().__init__()
        self.up = nn.Linear(d, h)
        self.down = nn.Linear(h, d)
        self.act = getattr(F, act)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.act(self.up(x)))


class SwitchRouter(nn.Module):
    """Top-1 router (Fedus et al.) with optional input jitter."""

    def __init__(self, d: int, n_experts: int, jitter: float = 0.0):
        super().__init__()
        self.proj = nn.Linear(d, n_experts, bias=False)
        self.jitter = jitter

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if self.training and self.jitter > 0:
            x = x * torch.empty_like(x).uniform_(1 - self.jitter, 1 + self.jitter)
        probs = F.softmax(self.proj(x.float()), dim=-1).to(x.dtype)
        return probs, probs.argmax(dim=-1)


class SwitchFFN(nn.Module):
    """
    Token-choice mixture of experts in place of a transformer FFN.

    Tokens over an expert's capacity are passed through unchanged by the residual path.
    """

    def __init__(
        self,
        d_model: int,
        d_hidden: int,
        n_experts: int,
        *,
        capacity_factor: float = 1.25,
        jitter: float = 0.0,
        act: Literal["relu", "gelu", "silu"] = "gelu",
    ):
        super().__init__()
        self.n_experts = n_experts
        self.capacity_factor = capacity_factor
        self.norm = nn.LayerNorm(d_model)
        self.router = SwitchRouter(d_model, n_experts, jitter)
        self.experts = nn.ModuleList(Expert(d_model, d_hidden, act) for _ in range(n_experts))
        self.register_buffer("load", torch.zeros(n_experts), persistent=False)

    def capacity(self, n_tokens: int) -> int:
        return max(1, int(self.capacity_factor * n_tokens / self.n_experts))

    @torch.no_grad()
    def _track(self, assign: Tensor) -> None:
        self.load.lerp_(assign.float().mean(0), 0.01)

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        shape = x.shape
        tokens = self.norm(x).reshape(-1, shape[-1])               # (N, D)
        probs, choice = self.router(tokens)                         # (N, E), (N,)
        assign = F.one_hot(choice, self.n_experts)                  # (N, E)
        if pad_mask is not None:
            assign = assign * (~pad_mask).reshape(-1, 1)
        self._track(assign)

        rank = assign.cumsum(0) * assign                            # 1-based position in the queue
        kept = (rank > 0) & (rank <= self.capacity(tokens.shape[0]))
        gates = torch.where(kept, probs > 0, torch.zeros_like(kept)).to(x.dtype)

        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            idx = kept[:, e].nonzero(as_tuple=True)[0]
            if idx.numel() == 0:
                continue
            y = expert(tokens[idx]) * gates[idx, e, None]
            out = out.index_add(0, idx, y)
        return x + out.view(shape)
