# thread: https://github.com/sunlicai/MAE-DFER/issues/15
# diagnosis: The first token is read, passed through a layer that saves it, and the result is written back over it.
# mistake: 21, 30
# expected: TLN201, TLN205
# symptom: raises RuntimeError: modified by an inplace operation

import torch
from torch import nn


class WindowBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.across = nn.Linear(dim, dim)
        self.inside = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, tokens):
        tokens = self.norm(tokens)
        summary = tokens[:, 0]
        tokens[:, 0] = summary + self.across(summary)
        mixed, _ = self.inside(tokens, tokens, tokens)
        return tokens + mixed


blocks = nn.ModuleList(WindowBlock(16, 2) for _ in range(2))
clip = torch.randn(4, 9, 16)
for block in blocks:
    clip = block(clip)
clip.mean().backward()
