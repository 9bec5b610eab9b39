from dataclasses import dataclass, field
from typing import Iterable, List, Optional, Set

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class LoraArgs:
    rank: int = 4
    alpha: float = 8.0
    dropout: float = 0.0
    dtype: torch.dtype = torch.float32
    targets: Set[str] = field(default_factory=lambda: {"q", "v"})

    @property
    def scaling(self) -> float:
        return self.alpha / self.rank


class LoraMixin:
    """Adds adapters to a linear layer; expects in_features/out_features to be set."""

    def reset_lora(self, args: LoraArgs) -> None:
        a = torch.empty(args.rank, self.in_features, dtype=torch.float64)
        nn.init.kaiming_uniform_(a, a=5 ** 0.5)
        self.lora_args = args
        self.lora_a = nn.Parameter(a).to(args.dtype)
        self.lora_b = nn.Parameter(torch.zeros(self.out_features, args.rank, dtype=args.dtype))
        self.lora_drop = nn.Dropout(args.dropout)

    def lora_delta(self, x: torch.Tensor) -> torch.Tensor:
        h = F.linear(self.lora_drop(x), self.lora_a)
        return F.linear(h, self.lora_b) * self.lora_args.scaling


class LoraLinear(nn.Linear, LoraMixin):
    def __init__(self, in_features: int, out_features: int, args: LoraArgs, bias: bool = False):
        super().__init__(in_features, out_features, bias=bias)
        self.reset_lora(args)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input) + self.lora_delta(input)


class LoraAttention(nn.Module):
    def __init__(self, dim: int, heads: int, args: LoraArgs):
        super().__init__()
        self.heads = heads
        for name in "qkvo":
            if name in args.targets:
                setattr(self, name, LoraLinear(dim, dim, args))
            else:
                setattr(self, name, nn.Linear(dim, dim, bias=False))

    def forward(self, x: torch.Tensor, context: Optional[torch.Tensor] = None) -> torch.Tensor:
        context = x if context is None else context

        def split(t):
            return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        y = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(context)), split(self.v(context)))
        return self.o(y.transpose(1, 2).flatten(2))


class LoraEncoder(nn.Module):
    """Small encoder with low-rank adapters on the chosen projections."""

    def __init__(self, dim: int, depth: int, heads: int = 2, lora: Optional[LoraArgs] = None):
        super().__init__()
        lora = lora or LoraArgs()
        self.attn: Iterable[nn.Module] = nn.ModuleList([LoraAttention(dim, heads, lora) for _ in range(depth)])
        self.norms = nn.ModuleList([nn.LayerNorm(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, dim)

    def freeze_base(self) -> List[str]:
        """Leave only adapters and the head trainable; returns their names."""
        left = []
        for n, p in self.named_parameters():
            p.requires_grad_("lora_" in n or n.startswith("head"))
            if p.requires_grad:
                left.append(n)
        return left

    def forward(self, x: torch.Tensor, context: Optional[torch.Tensor] = None) -> torch.Tensor:
        for attn, norm in zip(self.attn, self.norms):
            x = x + attn(norm(x), context)
        return self.head(x)
