"""A transformer encoder as language model: positions, a causal mask, a scheduler per step."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=64):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        pe = pe.unsqueeze(0).transpose(0, 1)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[: x.size(0), :]
        return self.dropout(x)


class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def attend(self, x, mask):
        length, batch, width = x.shape
        q, k, v = self.qkv(x).view(length, batch, self.heads, -1).permute(1, 2, 0, 3).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(mask, float("-inf"))
        mixed = F.softmax(scores, dim=-1) @ v
        return self.out(mixed.permute(2, 0, 1, 3).reshape(length, batch, width))

    def forward(self, x, mask):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class TransformerModel(nn.Module):
    def __init__(self, ntoken, width, heads, layers):
        super().__init__()
        self.embed = nn.Embedding(ntoken, width)
        self.scale = math.sqrt(width)
        self.position = PositionalEncoding(width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.head = nn.Linear(width, ntoken)
        self._mask = None

    def _causal(self, size, device):
        if self._mask is None or self._mask.size(0) != size:
            self._mask = torch.triu(torch.ones(size, size, dtype=torch.bool, device=device), diagonal=1)
        return self._mask

    def forward(self, tokens):
        mask = self._causal(len(tokens), tokens.device)
        x = self.position(self.embed(tokens) * self.scale)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


ntokens = 9
model = TransformerModel(ntokens, 8, 2, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=4)
data = torch.randint(ntokens, (4, 11, 3))

model.train()
for step, sequence in enumerate(data):
    inputs, targets = sequence[:-1], sequence[1:]
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, ntokens), targets.reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    print(step, loss.item(), norm.item(), scheduler.get_last_lr()[0])


@torch.no_grad()
def generate(tokens, count):
    model.eval()
    for _ in range(count):
        logits = model(tokens)[-1]
        following = torch.multinomial(F.softmax(logits, dim=-1), 1).t()
        tokens = torch.vstack([tokens, following])
    return tokens


print(generate(torch.zeros(1, 2, dtype=torch.long), 3).shape)
