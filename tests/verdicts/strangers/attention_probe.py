import math
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.last_attn = None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attn = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
        self.last_attn = attn
        return attn @ v


torch.manual_seed(0)
layer = SelfAttention(8)
head = nn.Linear(8, 1)
x = torch.randn(2, 5, 8)
score = head(layer(x)).mean()
score.backward()
importance = layer.last_attn.grad.norm(dim=-1)
print(importance)
