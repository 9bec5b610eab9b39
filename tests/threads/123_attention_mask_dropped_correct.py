# correct: 123_attention_mask_dropped.py
# cure: The masked scores are kept.

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        score = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        if mask is not None:
            score = score.masked_fill(~mask, value=-1e9)
        self.weights = F.softmax(score, dim=-1)
        return (self.dropout(self.weights) @ v).transpose(1, 2).reshape(b, n, d)


layer = Attention(8, 2, 0.0)
mask = torch.ones(1, 1, 4, 4, dtype=torch.bool)
mask[..., -1] = False
layer(torch.randn(1, 4, 8), mask)
print("weight on the masked token is zero:", bool((layer.weights[..., -1] == 0).all()))
