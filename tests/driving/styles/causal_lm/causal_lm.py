import math
from typing import NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn


class KVCache(NamedTuple):
    k: Tensor
    v: Tensor


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotate_half(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Rotary(nn.Module):
    def __init__(self, dim: int, base: float = 10000.0):
        super().__init__()
        inv = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        t = torch.arange(offset, offset + x.size(-2), device=x.device).float()
        f = torch.einsum("i,j->ij", t, self.inv_freq)
        emb = torch.cat((f, f), dim=-1)
        return x * emb.cos() + rotate_half(x) * emb.sin()


class Attention(nn.Module):
    def __init__(self, dim: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.head_dim = dim // n_heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.rope = Rotary(self.head_dim)

    def forward(self, x: Tensor, cache: Optional[KVCache], pad: Optional[Tensor]):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.n_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        past = 0 if cache is None else cache.k.size(2)
        q, k = self.rope(q, past), self.rope(k, past)
        if cache is not None:
            k = torch.cat((cache.k, k), dim=2)
            v = torch.cat((cache.v, v), dim=2)

        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        causal = torch.ones(t, k.size(2), dtype=torch.bool, device=x.device).tril(past)
        scores = scores.masked_fill(~causal, torch.finfo(scores.dtype).min)
        probs = scores.softmax(dim=-1)
        if pad is not None:
            # padded keys never contribute
            probs.masked_fill_(pad[:, None, None, :], 0.0)
        y = (probs @ v).transpose(1, 2).reshape(b, t, d)
        return self.out(y), KVCache(k, v)


class SwiGLU(nn.Module):
    def __init__(self, dim: int, mult: int = 4):
        super().__init__()
        hidden = int(2 * mult * dim / 3)
        self.w1, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, dim: int, n_heads: int):
        super().__init__()
        self.attn_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)
        self.attn, self.ffn = Attention(dim, n_heads), SwiGLU(dim)

    def forward(self, x, cache, pad):
        a, cache = self.attn(self.attn_norm(x), cache, pad)
        x = x + a
        return x + self.ffn(self.ffn_norm(x)), cache


class CausalLM(nn.Module):
    """Decoder-only LM.  ``pad`` is True at padded key positions (past + current)."""

    def __init__(self, vocab: int, dim: int = 64, n_layers: int = 2, n_heads: int = 4):
        super().__init__()
        assert dim % n_heads == 0
        self.tok = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([Block(dim, n_heads) for _ in range(n_layers)])
        self.norm = RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(
        self,
        ids: Tensor,
        caches: Optional[Tuple[KVCache, ...]] = None,
        pad: Optional[Tensor] = None,
        use_cache: bool = False,
    ):
        x = self.tok(ids)
        new = []
        for i, layer in enumerate(self.layers):
            x, c = layer(x, None if caches is None else caches[i], pad)
            new.append(c)
        logits = self.lm_head(self.norm(x))
        return (logits, tuple(new)) if use_cache else logits
