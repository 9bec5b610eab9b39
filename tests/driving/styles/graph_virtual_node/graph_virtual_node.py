"""Dense-batched graph transformer with a virtual node and degree encodings."""
from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import BoolTensor, LongTensor, Tensor


class DegreeEncoding(nn.Module):
    def __init__(self, max_degree: int, dim: int):
        super().__init__()
        self.max_degree = max_degree
        self.weight = nn.Parameter(torch.randn(max_degree + 1, dim) * 0.02)

    def forward(self, adj: Tensor) -> Tensor:
        deg = adj.long().sum(-1).clamp(max=self.max_degree)
        # degree 0 is padding and must stay at the origin
        self.weight[0] = 0.0
        return self.weight[deg]


class GraphAttention(nn.Module):
    def __init__(self, dim: int, heads: int, edge_types: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.edge_bias = nn.Embedding(edge_types + 1, heads)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Tensor, edges: LongTensor, mask: BoolTensor) -> Tensor:
        B, N, D = x.shape
        q, k, v = (t.view(B, N, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        bias = self.edge_bias(edges).permute(0, 3, 1, 2)                       # [B, H, N, N]
        bias = bias.masked_fill(~mask[:, None, None, :], float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.out(y.transpose(1, 2).reshape(B, N, D))


class GraphLayer(nn.Module):
    def __init__(self, dim: int, heads: int, edge_types: int):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = GraphAttention(dim, heads, edge_types)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, edges, mask):
        x = x + self.attn(self.ln1(x), edges, mask)
        return x + self.mlp(self.ln2(x))


class GraphormerLite(nn.Module):
    """Graph-level predictor.

    Inputs are dense: ``atoms [B, N]`` (0 = padding) and ``bonds [B, N, N]`` (0 = no bond).
    """

    def __init__(self, n_atom_types: int, n_bond_types: int, dim: int = 32, heads: int = 4,
                 depth: int = 2, max_degree: int = 8, n_targets: int = 1):
        super().__init__()
        self.n_bond_types = n_bond_types
        self.atom = nn.Embedding(n_atom_types + 1, dim, padding_idx=0)
        self.degree = DegreeEncoding(max_degree, dim)
        self.virtual = nn.Parameter(torch.zeros(1, 1, dim))
        # one extra edge type for the links to the virtual node
        self.layers = nn.ModuleList([GraphLayer(dim, heads, n_bond_types + 1) for _ in range(depth)])
        self.readout = nn.Linear(dim, n_targets)

    def _with_virtual(self, x: Tensor, bonds: LongTensor, mask: BoolTensor):
        B = x.size(0)
        x = torch.cat([self.virtual.expand(B, -1, -1), x], dim=1)
        bonds = F.pad(bonds, (1, 0, 1, 0), value=self.n_bond_types + 1)
        mask = F.pad(mask, (1, 0), value=True)
        return x, bonds, mask

    def forward(self, atoms: LongTensor, bonds: LongTensor) -> Tensor:
        mask = atoms != 0
        x = self.atom(atoms) + self.degree(bonds > 0)
        x, bonds, mask = self._with_virtual(x, bonds, mask)
        for layer in self.layers:
            x = layer(x, bonds, mask)
        return self.readout(x[:, 0])
