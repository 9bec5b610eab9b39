from typing import Dict, List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


class MSDeformableAttention(nn.Module):
    """Multi-scale deformable attention without the custom kernel.

    Samples are read by flat gathers, so that the module exports without grid_sample.
    """

    def __init__(self, embed_dim: int = 32, num_heads: int = 4, num_levels: int = 2, num_points: int = 2):
        super().__init__()
        assert embed_dim % num_heads == 0, f"{embed_dim} not divisible by {num_heads}"
        self.h, self.l, self.p = num_heads, num_levels, num_points
        self.sampling_offsets = nn.Linear(embed_dim, num_heads * num_levels * num_points * 2)
        self.attention_weights = nn.Linear(embed_dim, num_heads * num_levels * num_points)
        self.value_proj = nn.Linear(embed_dim, embed_dim)
        self.output_proj = nn.Linear(embed_dim, embed_dim)
        nn.init.normal_(self.sampling_offsets.bias, std=1.0)

    def sample(self, value: torch.Tensor, loc: torch.Tensor) -> torch.Tensor:
        """value [B, H, W, h, c], loc [B, Q, h, p, 2] in pixels -> [B, Q, h, p, c]"""
        B, H, W, h, c = value.shape
        x = loc[..., 0].round().clamp(0, W - 1)
        y = loc[..., 1].round().clamp(0, H - 1)
        flat = (y * W + x).long()                                   # [B, Q, h, p]
        Q, p = flat.shape[1], flat.shape[3]
        v = value.reshape(B, H * W, h, c).permute(0, 2, 1, 3)       # [B, h, HW, c]
        idx = flat.permute(0, 2, 1, 3).reshape(B, h, Q * p, 1).expand(-1, -1, -1, c)
        return v.gather(2, idx).view(B, h, Q, p, c).permute(0, 2, 1, 3, 4)

    def forward(self, query: torch.Tensor, ref: torch.Tensor, values: List[torch.Tensor]) -> torch.Tensor:
        # query [B, Q, D]; ref [B, Q, 2] in [0, 1]; values: list of [B, D, H, W]
        B, Q, D = query.shape
        offsets = self.sampling_offsets(query).view(B, Q, self.h, self.l, self.p, 2)
        weights = self.attention_weights(query).view(B, Q, self.h, self.l * self.p)
        weights = weights.softmax(-1).view(B, Q, self.h, self.l, self.p, 1)

        out = 0
        for lvl, feat in enumerate(values):
            H, W = feat.shape[-2:]
            v = self.value_proj(feat.permute(0, 2, 3, 1)).view(B, H, W, self.h, -1)
            size = ref.new_tensor([W, H])
            loc = ref[:, :, None, None] * size - 0.5 + offsets[:, :, :, lvl]
            out = out + (self.sample(v, loc) * weights[:, :, :, lvl]).sum(3)
        return self.output_proj(out.reshape(B, Q, D))


class DecoderLayer(nn.Module):
    def __init__(self, d: int, heads: int, levels: int):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.cross = MSDeformableAttention(d, heads, levels)
        self.n1, self.n2, self.n3 = (nn.LayerNorm(d) for _ in range(3))
        self.ffn = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, x, pos, ref, feats):
        qk = x + pos
        x = self.n1(x + self.self_attn(qk, qk, x, need_weights=False)[0])
        x = self.n2(x + self.cross(x + pos, ref, feats))
        return self.n3(x + self.ffn(x))


class DeformableDetHead(nn.Module):
    def __init__(self, in_channels: List[int], d: int = 32, queries: int = 10, heads: int = 4,
                 depth: int = 2, num_classes: int = 5):
        super().__init__()
        self.input_proj = nn.ModuleList([nn.Conv2d(c, d, 1) for c in in_channels])
        self.query = nn.Embedding(queries, 2 * d)
        self.ref = nn.Linear(d, 2)
        self.layers = nn.ModuleList([DecoderLayer(d, heads, len(in_channels)) for _ in range(depth)])
        self.cls, self.box = nn.Linear(d, num_classes), nn.Linear(d, 4)

    def forward(self, feats: List[torch.Tensor], aux: bool = False) -> Dict[str, torch.Tensor]:
        feats = [p(f) for p, f in zip(self.input_proj, feats)]
        B = feats[0].size(0)
        pos, x = self.query.weight.unsqueeze(0).expand(B, -1, -1).chunk(2, dim=-1)
        ref = self.ref(pos).sigmoid()
        outs: List[torch.Tensor] = []
        for layer in self.layers:
            x = layer(x, pos, ref, feats)
            outs.append(x)
        h = torch.stack(outs) if aux else x
        delta = F.pad(torch.logit(ref, eps=1e-4), (0, 2))
        return {"logits": self.cls(h), "boxes": (self.box(h) + delta).sigmoid()}
