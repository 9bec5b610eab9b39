import math
from typing import Any, Dict, Mapping, Optional, Union

import torch
from torch import nn
import torch.nn.functional as F

MODEL_CFGS: Dict[str, Dict[str, Any]] = {
    "tiny": {"embed_dim": 16, "vision": {"width": 16, "layers": 1, "patch": 4, "size": 16},
             "text": {"width": 16, "layers": 1, "vocab": 64, "context": 8}},
    "small": {"embed_dim": 64, "vision": {"width": 64, "layers": 2, "patch": 8, "size": 64},
              "text": {"width": 64, "layers": 2, "vocab": 1024, "context": 32}},
}


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class Block(nn.Module):
    def __init__(self, d: int, heads: int = 2):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), QuickGELU(), nn.Linear(4 * d, d))

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None):
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class VisionTower(nn.Module):
    def __init__(self, embed_dim: int, width: int, layers: int, patch: int, size: int):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, patch, patch, bias=False)
        n = (size // patch) ** 2
        self.class_embedding = nn.Parameter(width ** -0.5 * torch.randn(width))
        self.positional_embedding = nn.Parameter(width ** -0.5 * torch.randn(n + 1, width))
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(width ** -0.5 * torch.randn(width, embed_dim))

    def forward(self, x):
        x = self.conv1(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_embedding.expand(x.size(0), 1, -1), x], 1) + self.positional_embedding
        for b in self.blocks:
            x = b(x)
        return self.ln_post(x[:, 0]) @ self.proj


class TextTower(nn.Module):
    def __init__(self, embed_dim: int, width: int, layers: int, vocab: int, context: int):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab, width)
        self.positional_embedding = nn.Parameter(0.01 * torch.randn(context, width))
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(width ** -0.5 * torch.randn(width, embed_dim))
        mask = torch.full((context, context), float("-inf")).triu(1)
        self.register_buffer("attn_mask", mask, persistent=False)

    def forward(self, ids):
        t = ids.size(1)
        x = self.token_embedding(ids) + self.positional_embedding[:t]
        for b in self.blocks:
            x = b(x, self.attn_mask[:t, :t])
        x = self.ln_final(x)
        # the end-of-text token has the highest id of every sequence
        return x[torch.arange(x.size(0)), ids.argmax(-1)] @ self.text_projection


class CLIP(nn.Module):
    def __init__(self, cfg: Union[str, Mapping[str, Any]] = "tiny", max_logit_scale: float = 100.0):
        super().__init__()
        cfg = MODEL_CFGS[cfg] if isinstance(cfg, str) else cfg
        self.visual = VisionTower(cfg["embed_dim"], **cfg["vision"])
        self.text = TextTower(cfg["embed_dim"], **cfg["text"])
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))
        self.max_logit_scale = max_logit_scale

    def forward(self, image: Optional[torch.Tensor] = None, text: Optional[torch.Tensor] = None):
        img = F.normalize(self.visual(image), dim=-1) if image is not None else None
        txt = F.normalize(self.text(text), dim=-1) if text is not None else None
        if img is None or txt is None:
            return {"image_features": img, "text_features": txt}
        scale = min(float(self.logit_scale.exp()), self.max_logit_scale)
        logits = scale * img @ txt.t()
        target = torch.arange(logits.size(0), device=logits.device)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
        return {"image_features": img, "text_features": txt, "loss": loss}
