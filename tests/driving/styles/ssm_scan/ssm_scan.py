# Diagonal state-space block with input-dependent steps ("selective scan"), sequential reference version.
import math

import torch
import torch.nn.functional as F
from torch import nn


class SelectiveSSM(nn.Module):

    def __init__(self, d_inner, d_state=4, dt_rank='auto', dt_min=1e-3, dt_max=1e-1):
        super().__init__()
        self.d_inner, self.d_state = d_inner, d_state
        self.dt_rank = max(1, math.ceil(d_inner / 16)) if dt_rank == 'auto' else dt_rank
        self.x_proj = nn.Linear(d_inner, self.dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(self.dt_rank, d_inner)
        dt = torch.exp(torch.rand(d_inner) * (math.log(dt_max) - math.log(dt_min)) + math.log(dt_min))
        with torch.no_grad():
            self.dt_proj.bias.copy_(dt + torch.log(-torch.expm1(-dt)))   # inverse softplus
        A = torch.arange(1, d_state + 1, dtype=torch.float32).repeat(d_inner, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(d_inner))

    def discretise(self, u):
        dt, B, C = torch.split(self.x_proj(u), [self.dt_rank, self.d_state, self.d_state], dim=-1)
        dt = F.softplus(self.dt_proj(dt))                                # (b, l, d)
        A = -torch.exp(self.A_log)                                       # (d, n)
        dA = torch.exp(torch.einsum('bld,dn->bldn', dt, A))
        dBu = torch.einsum('bld,bln,bld->bldn', dt, B, u)
        return dA, dBu, C

    def forward(self, u, state=None):
        """u: (b, l, d); state: (b, d, n) or None"""
        b, l, d = u.shape
        dA, dBu, C = self.discretise(u)
        hs = u.new_zeros(b, l + 1, d, self.d_state)
        if state is not None:
            hs[:, 0] = state
        for t in range(l):
            hs[:, t + 1] = dA[:, t] * hs[:, t] + dBu[:, t]
        y = torch.einsum('bldn,bln->bld', hs[:, 1:], C)
        return y + u * self.D, hs[:, -1]


class MambaBlock(nn.Module):

    def __init__(self, d_model, expand=2, d_conv=3, **ssm_kwargs):
        super().__init__()
        d_inner = expand * d_model
        self.norm = nn.LayerNorm(d_model)
        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=False)
        self.conv = nn.Conv1d(d_inner, d_inner, d_conv, groups=d_inner, padding=d_conv - 1)
        self.ssm = SelectiveSSM(d_inner, **ssm_kwargs)
        self.out_proj = nn.Linear(d_inner, d_model, bias=False)

    def forward(self, x, state=None):
        l = x.shape[1]
        u, z = self.in_proj(self.norm(x)).chunk(2, dim=-1)
        u = self.conv(u.transpose(1, 2))[..., :l].transpose(1, 2)
        y, state = self.ssm(F.silu(u), state)
        return x + self.out_proj(y * F.silu(z)), state


class MambaLM(nn.Module):

    def __init__(self, vocab_size, d_model, n_layer, *, tie=True, **block_kwargs):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList([MambaBlock(d_model, **block_kwargs) for _ in range(n_layer)])
        self.norm_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        if tie:
            self.head.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(self, tokens, states=None):
        states = states or [None] * len(self.layers)
        x = self.embed(tokens)
        out_states = []
        for layer, s in zip(self.layers, states):
            x, s = layer(x, s)
            out_states.append(s)
        return self.head(self.norm_f(x)), out_states
